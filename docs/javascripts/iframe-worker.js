// Browsers start no worker from a page on disk: there, the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "";
      this.started = new Promise((resolve) => {
        frame.onload = () => {
          const scope = frame.contentWindow;
          scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = frame.contentDocument.createElement("script");
          script.src = new URL(url, location.href);
          script.onload = () => resolve(scope);
          frame.contentDocument.head.append(script);
        };
      });
      document.body.append(frame);
    }

    async postMessage(data) {
      const scope = await this.started;
      scope.dispatchEvent(new scope.MessageEvent("message", { data }));
    }
  };
}
