/** The names that may stand in a settings file, and what to say of others. */
import type { JsonPath } from '../json/json-places.js';
import type { JsonObject } from './settings-file.js';
import type { SettingsWarnings } from './settings-warnings.js';
import { isSkeinKey } from './skein-settings.js';

/** Only the managed policy may switch these. */
export const POLICY_SWITCHES = [
  'allowManagedPermissionRulesOnly',
  'allowManagedHooksOnly',
] as const;
export type PolicySwitch = (typeof POLICY_SWITCHES)[number];

export const OWN_KEYS: readonly string[] = [
  'permissions',
  'env',
  'model',
  'fallbackModel',
  'language',
  'outputStyle',
  'hooks',
  'skein',
  'disableAllHooks',
  ...POLICY_SWITCHES,
];

export const PERMISSION_KEYS: readonly string[] = [
  'allow',
  'deny',
  'ask',
  'defaultMode',
  'additionalDirectories',
  'disableBypassPermissionsMode',
];

/** Known in the ecosystem and no concern of ours: kept without a word. */
export const FOREIGN_KEYS: readonly string[] = [
  '$schema',
  'apiKeyHelper',
  'cleanupPeriodDays',
  'includeCoAuthoredBy',
  'attribution',
  'statusLine',
  'theme',
  'enabledPlugins',
  'extraKnownMarketplaces',
  'companyAnnouncements',
  'enableAllProjectMcpServers',
  'enabledMcpjsonServers',
  'disabledMcpjsonServers',
  'allowedMcpServers',
  'deniedMcpServers',
  'strictKnownMarketplaces',
  'otelHeadersHelper',
  'sandbox',
  'spinnerTipsEnabled',
  'alwaysThinkingEnabled',
  'forceLoginMethod',
  'forceLoginOrgUUID',
  'awsAuthRefresh',
  'awsCredentialExport',
];

/** One complaint for each key that is not known; a section that would know it is named. */
export const warnUnknown = (
  complaints: SettingsWarnings,
  holder: JsonObject,
  around: JsonPath,
  known: readonly string[],
  silent: readonly string[] = [],
): void => {
  for (const key of Object.keys(holder)) {
    if (known.includes(key) || silent.includes(key)) continue;
    complaints.unknown([...around, key], known, homesOf(key, around));
  }
};

const homesOf = (key: string, [section]: JsonPath): readonly string[] => [
  ...(section !== 'permissions' && PERMISSION_KEYS.includes(key) ? ['permissions'] : []),
  ...(section !== 'skein' && isSkeinKey(key) ? ['skein'] : []),
];
