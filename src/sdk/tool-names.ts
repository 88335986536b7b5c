/** Whether the host's tools can stand beside the built-in ones. */
import { UsageError } from '../protocol/errors.js';
import type { Tool } from '../protocol/tool.js';

/** No two tools may share a name. Throws a UsageError. */
export const checkToolNames = (custom: readonly Tool[], known: readonly Tool[]): void => {
  const taken = new Set(known.map(({ name }) => name));
  for (const { name } of custom) {
    if (taken.has(name)) {
      throw new UsageError(`There is another tool named "${name}". Give yours another name.`);
    }
    taken.add(name);
  }
};
