/** The managed and imported team presets in force: their locks, and the changes that apply them. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ManagedPresets } from '../../config/managed-preset.ts';
import type { TeamMemory, TeamMemoryStore } from '../../config/team-memory.ts';
import type { Config } from '../../contract/config.ts';
import type { Lock } from '../../contract/lock.ts';
import type { TeamPresetView } from '../../contract/status-views.ts';
import type { TeamPreset } from '../../contract/team-preset.ts';
import { type MergedPreset, mergeTeamPreset } from './merge-team-preset.ts';
import { locksOf } from './team-locks.ts';

export interface TeamPorts {
  managed: ManagedPresets;
  memory: TeamMemoryStore;
}

/** The change that applies the presets. */
interface DueMerge extends MergedPreset {
  team: TeamMemory;
}

export interface TeamPresets {
  readonly memory: TeamMemoryStore;
  readonly managed: ManagedPresets;
  views(): TeamPresetView[];
  /** What the presets still say of removed features, one sentence for each field. */
  removed(): string[];
  /** `managed`: only the locks of the managed preset. */
  locks(config: Config, scope?: 'all' | 'managed'): Lock[];
  /** Null if they are already applied. Throws GatewayError if one does not fit. */
  due(config: Config): DueMerge | null;
}

export function createTeamPresets({ managed, memory }: TeamPorts): TeamPresets {
  const managedPresets = () => (managed.current ? [managed.current.preset] : []);
  const imported = () => (memory.current.imported ? [memory.current.imported] : []);
  return {
    memory,
    managed,
    views: () => [
      ...(managed.current ? [viewOf(managed.current.preset, managed.current.source)] : []),
      ...imported().map((preset) => ({ ...viewOf(preset, 'imported'), ...gatewayOf(memory.current) })),
    ],
    removed: () => [...(managed.current?.removed ?? []), ...memory.removed],
    locks: (config, scope = 'all') =>
      locksOf(scope === 'managed' ? managedPresets() : [...managedPresets(), ...imported()], config),
    due(config) {
      const steps = [...imported().map((preset) => ({ preset, isNew: false })), ...managedStep(managed, memory)];
      const merged = steps.reduce<MergedPreset>(
        (before, { preset, isNew }) => {
          const after = mergeTeamPreset(before.config, preset, isNew ? 'everything' : 'what-is-locked');
          return { ...after, deleteBefore: [...before.deleteBefore, ...after.deleteBefore] };
        },
        { config, deleteBefore: [], enteredAnew: [] },
      );
      const applied = managed.current ? digestOf(managed.current.preset) : null;
      const isSame = applied === memory.current.applied && isDeepStrictEqual(merged.config, config);
      return isSame ? null : { ...merged, team: { ...memory.current, applied } };
    },
  };
}

/**
 * A new managed preset is applied completely. Later only its locked parts are applied, so that the others can be
 * changed.
 */
function managedStep({ current }: ManagedPresets, memory: TeamMemoryStore): { preset: TeamPreset; isNew: boolean }[] {
  if (!current) return [];
  // A version that still had the removed features has noted the digest of the whole.
  const known = [digestOf(current.preset), digestOf(current.written)];
  return [{ preset: current.preset, isNew: !known.some((digest) => digest === memory.current.applied) }];
}

function digestOf(preset: unknown): string {
  return createHash('sha256').update(JSON.stringify(preset)).digest('hex');
}

const gatewayOf = ({ gateway }: TeamMemory) => (gateway === undefined ? {} : { gateway });

function viewOf(preset: TeamPreset, source: TeamPresetView['source']): TeamPresetView {
  const { name, organisation, contact = null, version = null } = preset;
  return { source, name, organisation, contact, version };
}
