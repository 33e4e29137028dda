(detection, answer) =>
  new Promise((resolve) => {
    const start = performance.now();
    const check = () => {
      const { messages = [], instance } = window.autoconsentStandalone ?? {};
      const has = (type) => messages.some((message) => message.type === type);
      const waited = performance.now() - start;
      const isDetected = has("cmpDetected");
      const isAnswered = has("optOutResult");
      const isNone = !isDetected && (waited > detection || instance?.state.findCmpAttempts > 2);
      const isClosed = isDetected && !has("popupFound") && waited > 2 * detection;
      if (isAnswered || isNone || isClosed || waited > answer) {
        resolve(messages.some((message) => message.type === "optOutResult" && message.result));
      } else {
        setTimeout(check, 50);
      }
    };
    check();
  })
