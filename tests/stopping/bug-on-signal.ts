/** Loaded into a node before its program. Two signals trigger unhandled errors. */

process.on('SIGUSR2', () => {
  throw new Error('a bug that was thrown');
});
process.on('SIGWINCH', () => {
  void Promise.reject(new Error('a bug that was rejected'));
});
