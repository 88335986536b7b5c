/** Returns what permission rules may name: tools, their parameters and the values of these. */
import type { KnownTools } from '../../../policy/rules/never-matches.js';
import type { Tool } from '../../../protocol/tools/tool.js';
import { inputSchemaOf } from '../../../tools/toolbox.js';

/** `areAll` is false if the run may have more tools than these. */
export const knownTools = (tools: readonly Tool[], areAll: boolean): KnownTools => ({
  areAll,
  tools: tools.map((tool) => ({
    name: tool.name,
    inputSchema: inputSchemaOf(tool),
    hasSubject: tool.hasSubject ?? false,
  })),
});
