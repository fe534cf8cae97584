/**
 * Keeps the device's screen on. Browsers take the lock away whenever the page is hidden, so it is asked for again when the
 * page is seen. Where there is no such lock (plain HTTP, older phones) the device sleeps as it likes.
 * @returns {() => void} lets it sleep again
 */
export function keepAwake() {
  /** @type {WakeLockSentinel|null} */
  let lock = null;
  let wanted = true;
  const ask = async () => {
    if (!navigator.wakeLock || document.visibilityState !== 'visible') return;
    try {
      const got = await navigator.wakeLock.request('screen');
      if (wanted) lock = got;
      else void got.release();
    } catch {
      // low battery, or not allowed here
    }
  };
  document.addEventListener('visibilitychange', ask);
  void ask();
  return () => {
    wanted = false;
    document.removeEventListener('visibilitychange', ask);
    void lock?.release();
  };
}
