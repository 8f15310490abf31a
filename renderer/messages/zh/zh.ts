import type { Messages } from '../en/en.ts';
import { adopt } from './adopt.ts';
import { cassettes } from './cassettes.ts';
import { connect, keyChooser } from './connect.ts';
import { controlProblems } from './control-problems.ts';
import { faults, testing } from './faults.ts';
import { groups, sortable } from './groups.ts';
import { health } from './health.ts';
import { inspector } from './inspector.ts';
import { createKey, keys, secret } from './keys.ts';
import { limits } from './limits.ts';
import { models } from './models.ts';
import { attention, demoNote, firstCall, firstRun, live, overview, recentCapture, status } from './overview.ts';
import { palette, shortcuts } from './palette.ts';
import { panel } from './panel.ts';
import { account, audit, joining, ownUsage, people, scim, signIn, tokens } from './people.ts';
import { playground } from './playground.ts';
import { prices } from './prices.ts';
import { probe } from './probe.ts';
import { providers } from './providers.ts';
import { requests } from './requests.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { team } from './team.ts';
import { timedCapture } from './timed-capture.ts';

/** Simplified Chinese. */
export const zh: Messages = {
  ...shell,
  adopt,
  account,
  audit,
  joining,
  ownUsage,
  people,
  signIn,
  scim,
  tokens,
  connect,
  controlProblems,
  keyChooser,
  live,
  overview,
  firstRun,
  recentCapture,
  firstCall,
  demoNote,
  attention,
  status,
  prices,
  providers,
  probe,
  keys,
  createKey,
  secret,
  models,
  cassettes,
  faults,
  testing,
  groups,
  health,
  limits,
  sortable,
  requests,
  inspector,
  sessions,
  settings,
  playground,
  palette,
  panel,
  shortcuts,
  team,
  timedCapture,
};
