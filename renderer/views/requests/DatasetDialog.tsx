import { Button, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import {
  type DatasetAnswer,
  type DatasetCount,
  type DatasetGap,
  datasetAnswers,
} from '../../../server/contract/dataset.ts';
import type { LossCode } from '../../../server/contract/loss-codes.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { ModalFrame } from '../../components/ModalFrame.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useQuery } from '../../state/use-query.ts';
import classes from './Requests.module.css';
import { addressOf, queryOf, type ShownFilter } from './request-filter.ts';

/** Shows what a dataset of the captured conversations would contain and leave out, before it is downloaded. */
export function DatasetDialog({ filter, onClose }: { filter: ShownFilter; onClose(): void }) {
  const { dataset: names } = useMessages().shadows;
  const [answer, setAnswer] = useState<DatasetAnswer>('own');
  // A fixed time, so that the download contains what was counted.
  const [query] = useState(() => queryOf(filter, Date.now()));
  const countQuery = useQuery<'dataset'>({ type: 'dataset', filter: query, answer });
  const count = countQuery.isRunning ? null : countQuery.answer;
  const choices = datasetAnswers.map((value) => ({ value, label: names.whose[value] }));
  return (
    <ModalFrame title={names.title} opened onClose={onClose}>
      <Stack gap="sm">
        <p className={classes.datasetText}>{names.hint}</p>
        <SegmentedControl
          aria-label={names.answers}
          data={choices}
          value={answer}
          onChange={(value) => setAnswer(value === 'shadow' ? 'shadow' : 'own')}
        />
        <div role="status">
          {countQuery.problem ? (
            <CommandProblem problem={countQuery.problem} />
          ) : count ? (
            <Contents count={count} />
          ) : (
            names.counting
          )}
        </div>
        <Button
          component="a"
          href={`/control/dataset.jsonl${addressOf({ ...query, answer })}`}
          download
          {...(!count?.conversations && { 'data-disabled': true })}
          onClick={onClose}
        >
          {names.download}
        </Button>
      </Stack>
    </ModalFrame>
  );
}

function Contents({ count: { conversations, left: leftOut, changed } }: { count: DatasetCount }) {
  const { messages, formats } = useLocalization();
  const { dataset: names } = messages.shadows;
  const { reasons } = messages.requests.losses;
  const gaps = Object.entries(leftOut).map(([gap, count]) => names.gaps[gap as DatasetGap](formats.number(count)));
  const losses = Object.entries(changed).map(
    ([code, count]) => `${formats.number(count)}: ${reasons[code as LossCode]}`,
  );
  return (
    <>
      <strong>{names.has(conversations, formats.number(conversations))}</strong>
      <Lines title={names.left} lines={gaps} />
      <Lines title={names.changed} lines={losses} />
    </>
  );
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className={classes.datasetText}>
      {title}
      <ul className={classes.datasetLines}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}
