// The version of these pages beside their title, and a list of the others that lie beside them (../versions.js), also for
// pages that were opened by double click.
(() => {
  const config = JSON.parse(document.getElementById("__config").textContent);
  const root = new URL(`${config.base}/`, location.href);
  const own = config.version.name;

  const link = (name) => {
    const item = document.createElement("li");
    item.className = "md-version__item";
    const anchor = document.createElement("a");
    anchor.className = "md-version__link";
    anchor.href = new URL(`../${name}/index.html`, root).href;
    anchor.textContent = name;
    item.append(anchor);
    return item;
  };

  const show = (names) => {
    const box = document.createElement("div");
    box.className = "md-version";
    const current = document.createElement("button");
    current.className = "md-version__current";
    current.setAttribute("aria-label", "Choose a version");
    current.textContent = own;
    const list = document.createElement("ul");
    list.className = "md-version__list";
    list.append(...names.map(link));
    box.append(current, list);
    document.querySelector(".md-header__topic").append(box);
  };

  const known = document.createElement("script");
  known.src = new URL("../versions.js", root).href;
  known.onload = () => show(window.documentedVersions);
  known.onerror = () => show([own]); // built alone, without others beside it
  document.head.append(known);
})();
