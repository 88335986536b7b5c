/** Names of the keys in a settings file, and the warnings about other keys. */
import type { JsonPath } from '../json/json-places.js';
import type { JsonObject } from '../json/settings-document.js';
import type { SettingsWarnings } from './settings-warnings.js';
import { isSkeinKey } from './skein-settings.js';

/** Switches that only the managed policy may set. */
export const POLICY_SWITCHES = [
  'allowManagedPermissionRulesOnly',
  'allowManagedHooksOnly',
] as const;
export type PolicySwitch = (typeof POLICY_SWITCHES)[number];

export const SETTINGS_KEYS: readonly string[] = [
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

/** Keys of other programs with the same settings files. They are kept without a warning. */
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

/** Adds a warning for each unknown key, which names the section that the key belongs to. */
export const warnUnknownKeys = (
  warnings: SettingsWarnings,
  section: JsonObject,
  path: JsonPath,
  knownKeys: readonly string[],
  silent: readonly string[] = [],
): void => {
  for (const key of Object.keys(section)) {
    if (knownKeys.includes(key) || silent.includes(key)) continue;
    warnings.unknown([...path, key], knownKeys, sectionsOf(key, path));
  }
};

const sectionsOf = (key: string, [section]: JsonPath): readonly string[] => [
  ...(section !== 'permissions' && PERMISSION_KEYS.includes(key) ? ['permissions'] : []),
  ...(section !== 'skein' && isSkeinKey(key) ? ['skein'] : []),
];
