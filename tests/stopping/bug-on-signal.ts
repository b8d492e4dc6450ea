/** Loaded into a node before its program. Signals trigger bugs. */

process.on('SIGUSR2', () => {
  throw new Error('a bug that was thrown');
});
process.on('SIGWINCH', () => {
  void Promise.reject(new Error('a bug that was rejected'));
});
