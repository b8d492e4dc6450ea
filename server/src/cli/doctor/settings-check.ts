/** Whether the settings can be used, and whether they are likely to be meant. */

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
  const { adminPassword, refreshTokenSeconds, accessTokenSeconds } = settings;
  const found = [
    ...warnings,
    exposureWarning(settings),
    databaseLinkWarning(settings),
    metricsExposureWarning(settings),
    unsealedWarning(settings),
    tooManyWorkersWarning(settings),
    trustedProxyWarning(settings),
    adminPassword !== undefined && [...adminPassword].length < 8
      ? 'ESPALIER_ADMIN_PASSWORD has fewer than 8 characters: easy to guess. It counts at the first start only.'
      : undefined,
    refreshTokenSeconds <= accessTokenSeconds
      ? 'A refresh token lives no longer than an auth token (ESPALIER_REFRESH_TOKEN_SECONDS, ESPALIER_ACCESS_TOKEN_SECONDS): nobody can refresh in time.'
      : undefined,
  ].filter((text) => text !== undefined);
  return [ok('All of them can be read and used.'), ...found.map((text) => warning(text))];
}

export function unusable(message: string): Finding {
  return problem(message, 'docs/configuration.md has every setting and what it takes.');
}
