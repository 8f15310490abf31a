/** Every text of the window, in English, a file a screen. The other languages have the same shape (`Messages`). */
import { connect, keyChooser } from './en/connect.ts';
import { groups, sortable } from './en/groups.ts';
import { createKey, keys, secret } from './en/keys.ts';
import { models } from './en/models.ts';
import { attention, overview, status } from './en/overview.ts';
import { playground } from './en/playground.ts';
import { providers } from './en/providers.ts';
import { requests } from './en/requests.ts';
import { settings } from './en/settings.ts';
import { shell } from './en/shell.ts';

export const en = {
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

export type Messages = typeof en;
