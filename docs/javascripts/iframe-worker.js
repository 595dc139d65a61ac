// The search of a page that was opened by double click: no worker may be started from a file, so its script runs in a
// frame that nobody sees. The theme asks for a Worker by this name, and its script looks for `IFrameWorker` in the page.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside.importScripts = (...urls) => urls.reduce((last, one) => last.then(() => this.load(one)), Promise.resolve());
      this.ready = this.load(new URL(url, document.baseURI).href);
    }
    load(url) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script");
        Object.assign(script, { src: url, onload: done, onerror: failed });
        this.inside.document.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
