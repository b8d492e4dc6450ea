/** Loaded into a node before its program: when whoever started it is gone, however that ended, it does not stay. */

process.on('disconnect', () => process.exit(1));
// Listening alone does not keep it from ending by itself.
process.channel?.unref();
