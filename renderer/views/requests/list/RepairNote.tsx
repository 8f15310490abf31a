import { useEffect } from 'react';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { useNow } from '../../../state/window/use-now.ts';

const askEveryMs = 2_000;

interface RepairNoteProps {
  /** Per cent that was repaired when the list was loaded. */
  listedPercent: number;
  search: string | undefined;
  onRepaired(): void;
}

/** Says how much of the search is repaired, until all of it is. */
export function RepairNote({ listedPercent, search, onRepaired }: RepairNoteProps) {
  const { messages, formats } = useLocalization();
  const round = useNow((now) => Math.floor(now / askEveryMs));
  const { answer } = useQuery<'requests'>({ type: 'requests', filter: { search }, limit: 1 }, round);
  const isRepaired = answer !== null && answer.repairedPercent === null;
  useEffect(() => {
    if (isRepaired) onRepaired();
  }, [isRepaired, onRepaired]);
  const percent = answer ? answer.repairedPercent : listedPercent;
  return percent === null ? null : ` ${messages.requests.beingRepaired(formats.number(percent))}`;
}
