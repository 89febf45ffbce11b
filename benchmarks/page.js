// What the benchmark of the page calls in the browser, an expression.
({
  // Milliseconds until the page shows, and until it has its list.
  opened: () => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const [first] = performance.getEntriesByName("filter");
    return [paint.startTime, first.startTime + first.duration];
  },

  // Milliseconds from a new value of a control until the frame after it is painted; the list is as it was at first before.
  respond: async ([name, value]) => {
    const painted = () => new Promise((done) => requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = done;
      port2.postMessage(0);
    }));
    document.getElementById("rows-form").reset();
    await new Promise((done) => setTimeout(done));
    await painted();
    const control = document.getElementById(`rows-${name}`);
    control.value = value;
    const start = performance.now();
    control.dispatchEvent(new Event("input", { bubbles: true }));
    await painted();
    return performance.now() - start;
  },
})
