/** Checks that the settings are valid and plausible. */

import type { Settings } from '../../config/config.ts';
import {
  databaseLinkWarning,
  exposureWarning,
  metricsExposureWarning,
  tooManyWorkersWarning,
  trustedProxyWarning,
  unsealedWarning,
} from '../settings-warnings.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

export function checkSettings(settings: Settings, warnings: readonly string[]): Finding[] {
  const { adminPassword, refreshTokenSeconds, authTokenSeconds } = settings;
  const found = [
    ...warnings,
    exposureWarning(settings),
    databaseLinkWarning(settings),
    metricsExposureWarning(settings),
    unsealedWarning(settings),
    tooManyWorkersWarning(settings),
    trustedProxyWarning(settings),
    adminPassword !== undefined && [...adminPassword].length < 8
      ? 'ESPALIER_ADMIN_PASSWORD has fewer than 8 characters and is easy to guess. Only the first start uses it.'
      : undefined,
    refreshTokenSeconds <= authTokenSeconds
      ? 'Refresh tokens do not live longer than auth tokens (ESPALIER_REFRESH_TOKEN_SECONDS, ESPALIER_ACCESS_TOKEN_SECONDS): clients cannot refresh in time.'
      : undefined,
  ].filter((text) => text !== undefined);
  return [ok('All settings are valid.'), ...found.map((text) => warning(text))];
}

export function unusable(message: string): Finding {
  return problem(message, 'See docs/configuration.md for all settings and their values.');
}
