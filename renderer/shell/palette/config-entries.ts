/** Palette entries for the configuration: each provider, key, group and model by its name. Pure. */
import {
  IconCopy,
  IconKey,
  IconPlayerRecord,
  IconPlus,
  IconPower,
  IconServer2,
  IconStethoscope,
  IconTestPipe,
  IconUsers,
  IconUsersGroup,
  IconVectorTriangle,
} from '@tabler/icons-react';
import type { ConfigViews } from '../../../server/contract/events.ts';
import type { Locks } from '../../../server/contract/lock.ts';
import { conditionFacts, describeCondition } from '../../../server/contract/provider-condition.ts';
import { writeToClipboard } from '../../components/copying/CopyButton.tsx';
import type { Messages } from '../../messages/en/en.ts';
import { ControlError } from '../../state/api/api.ts';
import type { ControlStore } from '../../state/control/control-store.ts';
import { providerRows, switchCommand } from '../../state/providers/providers.ts';
import { overlay } from '../../state/window/overlay.ts';
import type { PaletteEntry } from './palette-entry.ts';

interface EntrySources {
  messages: Messages;
  views: ConfigViews;
  locks: Locks;
  /** Why nothing can be changed now; null if changes are possible. */
  unchangeable: string | null;
  isAdmin: boolean;
  execute: ControlStore['execute'];
  nowMs: number;
}

export function configEntries(sources: EntrySources): PaletteEntry[] {
  return [
    ...actionEntries(sources),
    ...providerEntries(sources),
    ...keyEntries(sources),
    ...groupEntries(sources),
    ...modelEntries(sources),
  ];
}

function actionEntries(sources: EntrySources): PaletteEntry[] {
  const { messages, views, locks, unchangeable } = sources;
  const { palette: names, commandFailed, connection } = messages;
  const { baseUrl } = views.status;
  const section = 'actions';
  const locked = locks.adding('providers') && commandFailed.locked;
  return [
    {
      ...{ id: 'add-provider', section, Icon: IconPlus, label: names.addProvider, words: 'new provider' },
      blocked: unchangeable ?? locked,
      act: { href: '/providers?add' },
    },
    {
      ...{ id: 'create-key', section, Icon: IconPlus, label: names.createKey, words: 'add new key' },
      blocked: unchangeable,
      act: { href: '/keys?new' },
    },
    {
      ...{ id: 'create-group', section, Icon: IconPlus, label: names.createGroup, words: 'add new group' },
      blocked: unchangeable ?? (locks.adding('groups') && commandFailed.locked),
      act: { href: '/groups?new' },
    },
    {
      ...{ id: 'invite-people', section, Icon: IconUsers, label: names.invitePeople },
      words: 'add people user member team share sign-in',
      act: { href: '/settings?section=team' },
    },
    {
      ...{ id: 'testing', section, Icon: IconTestPipe, label: names.testing },
      words: 'testing tests faults cassette record replay cache 故障 录制 重放 缓存',
      act: { run: () => overlay.openTesting(null) },
    },
    ...(sources.isAdmin ? [captureEntry(sources)] : []),
    {
      ...{ id: 'copy-base-url', section, Icon: IconCopy, label: names.copyBaseUrl, detail: baseUrl, words: 'copy' },
      blocked: baseUrl === null ? connection.notListening : null,
      act: { work: () => copy(baseUrl ?? '', names.baseUrlCopied, names.copyRefused) },
    },
  ];
}

/** Begins or ends a capture of all requests. One of a group or key is started where those are. */
function captureEntry({ messages, views, execute }: EntrySources): PaletteEntry {
  const { palette: names } = messages;
  const isRunning = views.status.capture.some(({ kind }) => kind === 'all');
  return {
    ...{ id: 'capture', section: 'actions', Icon: IconPlayerRecord, words: 'capture record bodies headers 捕获' },
    label: isRunning ? names.stopCapture : names.capture,
    act: {
      async work() {
        if (isRunning) await execute({ type: 'capture.stop' });
        else await execute({ type: 'capture.start', minutes: 10 });
        return isRunning ? names.captureStopped : names.captureRuns;
      },
    },
  };
}

function providerEntries({ messages, views, locks, unchangeable, execute, nowMs }: EntrySources): PaletteEntry[] {
  const { palette: names, providers, commandFailed } = messages;
  const section = 'providers';
  return providerRows(views).flatMap((row): PaletteEntry[] => {
    const { id, isDemo, isOn } = row;
    const name = isDemo ? providers.demoName : (row.provider?.name ?? id);
    const lock = isDemo ? locks.setting('demo') : locks.changing('providers', id, 'enabled');
    const power: PaletteEntry = {
      ...{ id: `switch:${id}`, section, Icon: IconPower, words: `${id} turn on off enable disable` },
      // The demo has no screen of its own, so that its switch is not secondary to another entry.
      ...(!isDemo && { action: `${isOn ? names.turnOff('') : names.turnOn('')} turn on off enable disable` }),
      label: isOn ? names.turnOff(name) : names.turnOn(name),
      blocked: unchangeable ?? (lock && commandFailed.locked),
      act: {
        async work() {
          await execute(switchCommand(row, !isOn));
          return isOn ? names.isOff(name) : names.isOn(name);
        },
      },
    };
    if (isDemo) return [power];
    const act = { href: `/providers/${id}` };
    const test: PaletteEntry = {
      ...{
        id: `test:${id}`,
        section,
        Icon: IconStethoscope,
        label: names.testProvider(name),
        words: `${id} test check`,
      },
      action: `${names.testProvider('')} test check`,
      act: { href: `/providers/${id}?test` },
    };
    const detail = row.provider && describeCondition(conditionFacts(row.provider, nowMs), messages.health);
    return [{ id: `provider:${id}`, section, Icon: IconServer2, label: name, detail, words: id, act }, power, test];
  });
}

function keyEntries({ messages, views, unchangeable, execute }: EntrySources): PaletteEntry[] {
  const { palette: names } = messages;
  const section = 'keys';
  return views.keys.flatMap((key): PaletteEntry[] => {
    const { id, suffix, canReveal } = key;
    const name = key.name ?? id;
    const detail = suffix === null ? null : `…${suffix}`;
    return [
      {
        ...{ id: `key:${id}`, section, Icon: IconKey, label: name, detail, words: `${id} key` },
        blocked: unchangeable,
        act: { href: `/keys?key=${encodeURIComponent(id)}` },
      },
      {
        ...{
          id: `copy-secret:${id}`,
          section,
          Icon: IconCopy,
          label: names.copySecret(name),
          detail,
          action: `${names.copySecret('')} copy`,
          words: 'copy key',
        },
        blocked: canReveal ? null : names.secretNotKept,
        act: {
          async work() {
            const { secret } = await execute({ type: 'key.reveal', id });
            return copy(secret, names.secretCopied(name), names.copyRefused);
          },
        },
      },
    ];
  });
}

function groupEntries({ views }: EntrySources): PaletteEntry[] {
  return views.groups.map(({ id, name }) => ({
    ...{ id: `group:${id}`, section: 'groups', Icon: IconUsersGroup, label: name ?? id, words: id },
    act: { href: `/groups/${id}` },
  }));
}

/** Each links to its route preview. */
function modelEntries({ views, messages }: EntrySources): PaletteEntry[] {
  const servers = new Map<string, string[]>(views.aliases.map(({ name }) => [name, []]));
  for (const { name, isDemo, modelNames } of views.providers) {
    const provider = isDemo ? messages.providers.demoName : name;
    for (const model of modelNames) servers.set(model, [...(servers.get(model) ?? []), provider]);
  }
  return [...servers].map(([model, providers]) => ({
    ...{ id: `model:${model}`, section: 'models', Icon: IconVectorTriangle, label: model },
    detail: providers.join(', '),
    act: { href: `/models?model=${encodeURIComponent(model)}` },
  }));
}

async function copy(text: string, done: string, refused: string): Promise<string> {
  if (!(await writeToClipboard(text))) throw new ControlError('window', refused);
  return done;
}
