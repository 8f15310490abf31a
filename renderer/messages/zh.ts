import type { Messages } from './en.ts';
import { connect, keyChooser } from './zh/connect.ts';
import { groups, sortable } from './zh/groups.ts';
import { createKey, keys, secret } from './zh/keys.ts';
import { models } from './zh/models.ts';
import { attention, overview, status } from './zh/overview.ts';
import { playground } from './zh/playground.ts';
import { providers } from './zh/providers.ts';
import { requests } from './zh/requests.ts';
import { settings } from './zh/settings.ts';
import { shell } from './zh/shell.ts';

/** Simplified Chinese. */
export const zh: Messages = {
  ...shell,
  connect,
  keyChooser,
  overview,
  attention,
  status,
  providers,
  keys,
  createKey,
  secret,
  models,
  groups,
  sortable,
  requests,
  settings,
  playground,
};
