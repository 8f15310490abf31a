import { Button } from '@mantine/core';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from '../Requests.module.css';
import { clearPicks, comparePicked, usePicked } from './picked.ts';

/** How many requests are selected, and what can be done with them. */
export function PickBar() {
  const { messages, formats } = useLocalization();
  const { picks: names } = messages.requests;
  const { ids } = usePicked();
  return (
    <div className={classes.picks}>
      <span>{names.selected(ids.length, formats.number(ids.length))}</span>
      {ids.length > 1 && (
        <Button size="compact-xs" onClick={() => comparePicked()}>
          {names.compare}
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={clearPicks}>
        {names.clear}
      </Button>
    </div>
  );
}
