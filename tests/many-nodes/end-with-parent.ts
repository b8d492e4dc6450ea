/** Loaded into a node before its program. Ends the node when its parent process ends for any reason. */

process.on('disconnect', () => process.exit(1));
// The listener must not keep the node alive.
process.channel?.unref();
