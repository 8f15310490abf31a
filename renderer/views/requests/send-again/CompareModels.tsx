import { Button, NumberInput, TagsInput } from '@mantine/core';
import { useState } from 'react';
import { type KeptRequest, modelOf, withModel } from '../../../../server/contract/sent-request.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { KeyChooser } from '../../../components/selects/KeyChooser.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { ComparedModels } from './ComparedModels.tsx';
import classes from './SendAgain.module.css';
import { useComparison } from './use-comparison.ts';
import { useRequestKey } from './use-request-key.ts';

const mostModels = 4;
const mostTimes = 20;

/** Sends the same request to several models, several times if wanted, and shows their answers side by side. */
export function CompareModels({ original }: { original: KeptRequest }) {
  const { inspector: names } = useMessages();
  const keyChoice = useRequestKey(original.request.keyId);
  const choice = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const [models, setModels] = useState<string[]>([modelOf(original) ?? ''].filter(Boolean));
  const [times, setTimes] = useState(1);
  const [isChoosing, setChoosing] = useState(false);
  const comparison = useComparison(keyChoice);
  const { method, headers } = original;
  const calls = models.flatMap((model) => {
    const call = withModel(original, model);
    return call ? [{ model, method, headers, ...call }] : [];
  });
  return (
    <div className={classes.again}>
      <div className={classes.fields}>
        <KeyChooser choice={keyChoice} />
        <NumberInput
          label={names.compare.times}
          min={1}
          max={mostTimes}
          allowDecimal={false}
          clampBehavior="strict"
          value={times}
          onChange={(value) => setTimes(typeof value === 'number' && value > 0 ? value : 1)}
        />
      </div>
      <TagsInput
        label={names.compare.models}
        description={names.compare.modelsHint}
        data={choice.models.map(({ id }) => id)}
        limit={50}
        maxTags={mostModels}
        value={models}
        onChange={setModels}
        acceptValueOnBlur
        // Closed after each choice, because the open list would cover the button below.
        dropdownOpened={isChoosing}
        onDropdownOpen={() => setChoosing(true)}
        onDropdownClose={() => setChoosing(false)}
        onOptionSubmit={() => setChoosing(false)}
      />
      {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
      <div className={classes.acts}>
        {comparison.isRunning ? (
          <Button variant="default" onClick={comparison.stop}>
            {names.stop}
          </Button>
        ) : (
          <Button onClick={() => void comparison.run(calls, times)} disabled={calls.length === 0 || !keyChoice.key}>
            {names.compare.run}
          </Button>
        )}
        <span role="status" className={classes.soft}>
          {comparison.isRunning && names.waiting}
          {comparison.failed && names.notSent[comparison.failed]}
        </span>
      </div>
      <ComparedModels models={comparison.models} times={times} />
    </div>
  );
}
