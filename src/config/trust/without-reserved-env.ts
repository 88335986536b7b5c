/** Removes environment variables that a project may never set, even if it is trusted. */
import type { SettingsLayer } from '../settings/settings-layers.js';

/** Variables that choose programs, providers or keys. A proxy can see the provider's key over plain HTTP. */
const RESERVED = /^(?:ANTHROPIC_|SKEIN_|NODE_|LD_|DYLD_|PATH$|(?:HTTPS?|ALL|NO)_PROXY$)/i;

/** Changes only layers of the project. The warnings name the removed variables. */
export const withoutReservedEnv = (
  layer: SettingsLayer,
): { layer: SettingsLayer; warnings: readonly string[] } => {
  if (layer.source !== 'project' && layer.source !== 'local') return { layer, warnings: [] };
  const entries = Object.entries(layer.values.env);
  const removed = entries.filter(([name]) => RESERVED.test(name)).map(([name]) => name);
  if (removed.length === 0) return { layer, warnings: [] };
  const env = Object.fromEntries(entries.filter(([name]) => !RESERVED.test(name)));
  const warning = `env of ${layer.file} may not set ${removed.join(', ')}; set them in your own settings or shell.`;
  return { layer: { ...layer, values: { ...layer.values, env } }, warnings: [warning] };
};
