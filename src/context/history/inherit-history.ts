/** Copies the parent's knowledge into a fork's history, without the parent's open work. */
import type { History } from './history.js';

/**
 * `child` must be empty. Messages are shared, never copied. New forks and forks that are rebuilt
 * from journals use this function, so that both have the same state by construction.
 */
export const inheritHistory = (child: History, parent: History): void => {
  for (const message of parent.messages) child.messages.push(message);
  for (const [path, stamp] of parent.fileStamps) child.fileStamps.set(path, stamp);
  child.todos = parent.todos;
  child.cwd = parent.cwd;
  child.model = parent.model;
  child.prompt = parent.prompt;
  child.announced.copyFrom(parent.announced);
  child.betas.copyFrom(parent.betas);
  child.cached.copyFrom(parent.cached);
  child.promptBytes = parent.promptBytes;
  child.countedTokens = parent.countedTokens;
  child.weightSince = parent.weightSince;
  child.relations.offer = parent.relations.offer;
  // A damaged journal of the parent may have lost the message of the fork.
  child.isInconsistent = parent.relations.offer === null;
};
