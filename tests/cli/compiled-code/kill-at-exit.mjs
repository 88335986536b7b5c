/** Preload for a program under test: kills the process when it begins to exit, before other listeners. */
process.prependListener('exit', () => {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
});
