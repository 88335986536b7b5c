/** Variables that a project may never set, trusted or not: they decide what runs and who is paid. */
import type { Layer } from '../settings/settings-layers.js';

/** A proxy sees whom the model's key goes to, and over plain HTTP the key itself. */
const RESERVED = /^(?:ANTHROPIC_|SKEIN_|NODE_|LD_|DYLD_|PATH$|(?:HTTPS?|ALL|NO)_PROXY$)/i;

export const withoutReservedEnv = (layer: Layer): { layer: Layer; warnings: readonly string[] } => {
  if (layer.source !== 'project' && layer.source !== 'local') return { layer, warnings: [] };
  const entries = Object.entries(layer.values.env);
  const taken = entries.filter(([name]) => RESERVED.test(name)).map(([name]) => name);
  if (taken.length === 0) return { layer, warnings: [] };
  const env = Object.fromEntries(entries.filter(([name]) => !RESERVED.test(name)));
  const warning = `env of ${layer.file} may not set ${taken.join(', ')}; set them in your own settings or shell.`;
  return { layer: { ...layer, values: { ...layer.values, env } }, warnings: [warning] };
};
