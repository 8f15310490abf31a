/** Reports, for each client API, whether requests reach a target unchanged or translated. */

import { servedApis } from '../../apis/registry.ts';
import { possibleLosses } from '../../apis/translation/report-losses.ts';
import { isWireName, upstreamWireOf } from '../../apis/translation/translation-registry.ts';
import type { WireWay } from '../../contract/access-views.ts';
import type { Target } from '../../routing/snapshot.ts';

/** The conversation wires that Sluice serves. */
const clientWires = [
  ...new Set(servedApis.flatMap(({ routes }) => routes.filter(({ stream }) => stream).map(({ wire }) => wire.name))),
].filter(isWireName);

/** @param model the client's name for the model */
export function explainWires(target: Target, model: string): WireWay[] {
  return clientWires.flatMap((client) => {
    const upstream = upstreamWireOf(target, client, null);
    return upstream === null ? [] : [{ client, upstream, ...possibleLosses(client, upstream, target.model ?? model) }];
  });
}
