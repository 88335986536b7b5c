/**
 * Modules that the bundle of the command evaluates on first use (scripts/deferred-modules.mjs). Without the bundle
 * there are none.
 */
const loaders: (() => void)[] = [];

/** Adds the function that evaluates a module. Called by the bundle. */
export const deferModule = (load: () => void): void => {
  loaders.push(load);
};

/**
 * Evaluates all deferred modules, a few in each turn of the event loop. Call when a request has left: then no later
 * step waits for a module.
 */
export const loadDeferredModules = (): void => {
  const until = performance.now() + SLICE_MS;
  while (loaders.length > 0 && performance.now() < until) loaders.shift()?.();
  if (loaders.length > 0) setImmediate(loadDeferredModules);
};

/** Time in which other work waits. */
const SLICE_MS = 4;
