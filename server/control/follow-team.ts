/** Keeps the configuration in step with the team presets: at the start, and when a policy comes, changes or goes. */
import type { Logger } from 'pino';
import type { ConfigStore } from '../config/config-store.ts';
import { noManagedPresets } from '../config/managed-preset.ts';
import { openTeamMemory } from '../config/team-memory.ts';
import type { ControlPlane } from './control-plane.ts';
import type { TeamPorts, TeamPresets } from './team-presets.ts';

/** A policy is no emergency, and a look costs one small file. */
const lookEveryMs = 60_000;

interface FollowPorts {
  team: TeamPresets;
  config: Pick<ConfigStore, 'readOnly'>;
  control: Pick<ControlPlane, 'followTeam'>;
  /** Told what a person should know, a line each. */
  notice: ((line: string) => void) | undefined;
  log: Logger;
}

/** Resolves when the configuration follows the presets, or it was said why it cannot. Returns what ends the looking. */
export async function followTeamPresets(ports: FollowPorts): Promise<() => void> {
  const { team } = ports;
  await follow(ports);
  const timer = setInterval(() => {
    if (team.managed.refresh()) void follow(ports);
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

/** Of a program that nobody manages. */
export function withoutTeam(): TeamPorts {
  return { managed: noManagedPresets, memory: openTeamMemory(null, () => {}) };
}

/** A preset that does not fit must not keep Sluice from starting. */
async function follow({ team, config, control, notice, log }: FollowPorts): Promise<void> {
  const { current } = team.managed;
  const tell = (line: string) => {
    log.warn(line);
    notice?.(line);
  };
  if (current && config.readOnly) {
    tell(
      `The team preset ${current.path} is not applied: the configuration comes from a file that Sluice does not write.`,
    );
  }
  try {
    await control.followTeam();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tell(`${current?.path ?? 'The imported team preset'} is not applied: ${reason}`);
  }
}
