/** Tells, for each API that clients may speak, whether a target is asked as it is or through a translation. */
import type { WireWay } from '../contract/access-views.ts';
import type { Target } from '../routing/snapshot.ts';
import { possibleLosses } from '../translate/possible-losses.ts';
import { upstreamWireOf } from '../translate/upstream-wire.ts';
import { isWireName } from '../translate/wire-translations.ts';
import { servedApis } from '../wire/registry.ts';

/** Those in which conversations are had with Sluice. */
const clientWires = [
  ...new Set(servedApis.flatMap(({ routes }) => routes.filter(({ stream }) => stream).map(({ wire }) => wire.name))),
].filter(isWireName);

/** @param model as the client names it */
export function explainWires(target: Target, model: string): WireWay[] {
  return clientWires.flatMap((client) => {
    const upstream = upstreamWireOf(target, client, null);
    return upstream === null ? [] : [{ client, upstream, ...possibleLosses(client, upstream, target.model ?? model) }];
  });
}
