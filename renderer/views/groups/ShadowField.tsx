import { SimpleGrid, TextInput } from '@mantine/core';
import type { GroupView } from '../../../server/contract/access-views.ts';
import type { ShadowSettings, ShadowSkip } from '../../../server/contract/shadow.ts';
import { DefaultedNumberInput } from '../../components/DefaultedNumberInput.tsx';
import { SwitchableFields } from '../../components/SwitchableFields.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useQuery } from '../../state/use-query.ts';
import classes from './Groups.module.css';
import type { PartProps } from './group-draft.ts';
import { ShadowFigures } from './ShadowFigures.tsx';

const first: ShadowSettings = { target: '', share: 0.1, dailyUsd: 1 };

/** Whether a share of the requests is also sent to another model, and the results so far. */
export function ShadowField({ group, draft, change, lock }: PartProps & { group: GroupView }) {
  const { messages, formats } = useLocalization();
  const names = messages.shadows;
  const { shadow } = draft;
  const summary = shadow ? names.summary(formats.percent(shadow.share), shadow.target) : messages.groups.off;
  return (
    <SwitchableFields
      title={names.title}
      summary={summary}
      isOn={shadow !== null}
      label={names.on}
      hint={names.onHint}
      lock={lock}
      onSwitch={(isOn) => change({ shadow: isOn ? (group.shadow ?? first) : null })}
    >
      {shadow && <Settings shadow={shadow} onChange={(changes) => change({ shadow: { ...shadow, ...changes } })} />}
      {group.shadow && <Report groupId={group.id} />}
    </SwitchableFields>
  );
}

interface SettingsProps {
  shadow: ShadowSettings;
  onChange(changes: Partial<ShadowSettings>): void;
}

function Settings({ shadow, onChange }: SettingsProps) {
  const { shadows: names } = useMessages();
  return (
    <>
      <TextInput
        label={names.target}
        description={names.targetHint}
        value={shadow.target}
        onChange={(event) => onChange({ target: event.currentTarget.value })}
        maxLength={512}
        required
        autoComplete="off"
      />
      <SimpleGrid cols={2} spacing="sm" className={classes.level}>
        <DefaultedNumberInput
          label={names.share}
          defaultNumber={first.share * 100}
          min={0}
          max={100}
          decimalScale={2}
          clampBehavior="strict"
          value={Number((shadow.share * 100).toFixed(2))}
          onChange={(percent) => onChange({ share: percent / 100 })}
        />
        <DefaultedNumberInput
          label={names.dailyUsd}
          defaultNumber={first.dailyUsd}
          min={0.01}
          max={1_000_000}
          decimalScale={2}
          value={shadow.dailyUsd}
          onChange={(dailyUsd) => onChange({ dailyUsd })}
        />
      </SimpleGrid>
      <p className={classes.soft}>{names.dailyHint}</p>
    </>
  );
}

/** The models tried so far, and the requests that were not sent. */
function Report({ groupId }: { groupId: string }) {
  const { messages, formats } = useLocalization();
  const names = messages.shadows;
  const { answer } = useQuery<'shadows'>({ type: 'shadows', groupId });
  if (!answer) return null;
  const reasons = Object.entries(answer.skipped[0]?.reasons ?? {});
  const skipped = reasons.map(([reason, count]) => names.skips[reason as ShadowSkip](formats.number(count)));
  return (
    <>
      {answer.summaries.length === 0 && <p className={classes.soft}>{names.none}</p>}
      {answer.summaries.map((summary) => (
        <ShadowFigures key={`${summary.provider}/${summary.model}`} summary={summary} />
      ))}
      {skipped.length > 0 && (
        <div className={classes.soft}>
          {names.skipped}
          <ul className={classes.lines}>
            {skipped.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
