/** What a fork begins with: all that its parent knows, and nothing of what its parent has to do. */
import type { History } from './history.js';

/**
 * `child` is empty. Messages are shared, never copied. The same for a fork that begins now and for one
 * that is rebuilt from journals, so that both are in the same place by construction.
 */
export const inherit = (child: History, parent: History): void => {
  for (const message of parent.messages) child.messages.push(message);
  for (const [path, stamp] of parent.seen) child.seen.set(path, stamp);
  child.todos = parent.todos;
  child.cwd = parent.cwd;
  child.model = parent.model;
  child.prompt = parent.prompt;
  child.told.takeOver(parent.told);
  child.betas.takeOver(parent.betas);
  child.cached.takeOver(parent.cached);
  child.promptBytes = parent.promptBytes;
  child.countedTokens = parent.countedTokens;
  child.weightSince = parent.weightSince;
  child.family.offer = parent.family.offer;
};
