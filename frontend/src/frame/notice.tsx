// A sentence where a picture would be.

export function Notice({ text }: { text: string }) {
  return (
    <div class="notice" role="status">
      <p>{text}</p>
    </div>
  );
}
