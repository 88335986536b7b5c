/** The names of tools: those that a prompt shows, and whether a host's can stand beside the rest. */
import { UsageError } from '../../protocol/errors.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { Tool } from '../../protocol/tools/tool.js';

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

/** The names in a prompt, in its order. */
export const shownTools = (tools: RawJson): readonly string[] =>
  (JSON.parse(tools) as readonly { readonly name: string }[]).map(({ name }) => name);
