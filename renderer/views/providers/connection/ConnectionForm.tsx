import { Button, Collapse, Group, NativeSelect, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { type FormErrors, useForm } from '@mantine/form';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { FormActions } from '../../../components/forms/FormActions.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { type Edits, rebaseEdits, settleEdits } from '../../../state/edits/edits.ts';
import { useLocks } from '../../../state/rights/use-rights.ts';
import classes from '../Providers.module.css';
import { AdvancedFields, type ConnectionFieldsProps } from './AdvancedFields.tsx';
import { exampleBaseUrls, isBaseUrl } from './base-url.ts';
import { type ConnectionValues, changesOf, valuesOf } from './connection-values.ts';

/** Connection settings of a provider. Follows changes of the values in force. */
export function ConnectionForm({ provider }: { provider: ProviderView }) {
  const { connection: names } = useMessages().providers;
  const { form, conflict } = useConnectionForm(provider);
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const locks = useLocks();
  const lockOf = (field: keyof ProviderView) => locks.changing('providers', provider.id, field);
  const command = useCommand();
  const [showsAdvanced, setShowsAdvanced] = useState(false);
  const Chevron = showsAdvanced ? IconChevronDown : IconChevronRight;
  const save = async (values: ConnectionValues) => {
    const expected = revision === null ? {} : { expectedRevision: revision };
    const changes = changesOf(values);
    const onSaved = conflict.sending(values);
    if (await command.run({ type: 'provider.update', id: provider.id, changes, ...expected })) onSaved();
  };
  // An error cannot be shown in a hidden field.
  const showWrong = ({ proxyUrl, certificate }: FormErrors) => (proxyUrl || certificate) && setShowsAdvanced(true);
  return (
    <Section title={names.title}>
      <form className={classes.body} onSubmit={form.onSubmit((values) => void save(values), showWrong)} noValidate>
        <Stack gap="sm">
          <AddressFields form={form} lockOf={lockOf} />
          <ModelsFields form={form} lockOf={lockOf} />
          <Lockable lock={lockOf('free')}>
            <Switch
              label={names.free}
              description={names.freeHint}
              checked={form.values.free ?? provider.isFree}
              onChange={(event) => form.setFieldValue('free', event.currentTarget.checked)}
            />
          </Lockable>
          <Button
            variant="subtle"
            size="xs"
            className={classes.start}
            leftSection={<Chevron size={14} />}
            aria-expanded={showsAdvanced}
            onClick={() => setShowsAdvanced(!showsAdvanced)}
          >
            {names.advanced}
          </Button>
          <Collapse expanded={showsAdvanced} transitionDuration={0}>
            <AdvancedFields form={form} lockOf={lockOf} />
          </Collapse>
          <FormActions
            isChanged={form.isDirty()}
            conflict={conflict.exists ? { onKeep: conflict.keep } : null}
            command={command}
            onDiscard={conflict.reload}
          />
        </Stack>
      </form>
    </Section>
  );
}

/** Keeps what was typed when the values in force change. */
function useConnectionForm(provider: ProviderView) {
  const { connection: names, add } = useMessages().providers;
  const form = useForm<ConnectionValues>({
    initialValues: valuesOf(provider),
    validate: {
      baseUrl: (value) => (isBaseUrl(value) ? null : add.addressWrong),
      certificate: (value) =>
        /^([0-9a-f]{2}:){31}[0-9a-f]{2}$|^$/i.test(value.trim()) ? null : names.certificateWrong,
      proxyUrl: (value, { proxy }) => (proxy !== 'url' || isBaseUrl(value) ? null : names.proxyWrong),
    },
  });
  const { setInitialValues, setValues, getValues, reset } = form;
  const [hasConflict, setConflict] = useState(false);
  const current = JSON.stringify(valuesOf(provider));
  const base = useRef(valuesOf(provider));
  const editsOf = (draft: ConnectionValues) => ({ base: base.current, draft, hasConflict: false });
  const show = (edits: Edits<ConnectionValues>) => {
    base.current = edits.base;
    setInitialValues(edits.base);
    setValues(edits.draft);
  };
  // An effect event, because the form's functions change on each render and setting values clears its errors.
  const rebase = useEffectEvent((text: string) => {
    const rebased = rebaseEdits(editsOf(getValues()), JSON.parse(text));
    show(rebased);
    if (rebased.hasConflict) setConflict(true);
  });
  useEffect(() => rebase(current), [current]);
  const reload = () => {
    reset();
    setConflict(false);
  };
  /** Call the result when `values` have been saved: it keeps what was typed meanwhile. */
  const sending = (values: ConnectionValues) => {
    const sent = editsOf(values);
    return () => {
      const settled = settleEdits(editsOf(getValues()), sent);
      show(settled);
      setConflict(settled.hasConflict);
    };
  };
  return { form, conflict: { exists: hasConflict, sending, reload, keep: () => setConflict(false) } };
}

function AddressFields({ form, lockOf }: ConnectionFieldsProps) {
  const { add, connection: names } = useMessages().providers;
  const isAzure = form.values.dialect === 'azure';
  return (
    <>
      <Lockable lock={lockOf('name')}>
        <TextInput label={add.name} maxLength={200} autoComplete="off" {...form.getInputProps('name')} />
      </Lockable>
      <Lockable lock={lockOf('baseUrl')}>
        <TextInput
          label={add.address}
          description={names.addressHint(exampleBaseUrls[form.values.dialect])}
          inputMode="url"
          autoComplete="off"
          {...form.getInputProps('baseUrl')}
        />
      </Lockable>
      <Group grow gap="sm" align="flex-start">
        <Lockable lock={lockOf('dialect')}>
          <NativeSelect
            label={names.dialect}
            data={[
              { value: 'openai', label: 'OpenAI' },
              { value: 'azure', label: 'Azure OpenAI' },
              { value: 'anthropic', label: 'Anthropic' },
              { value: 'gemini', label: 'Google Gemini' },
              { value: 'bedrock', label: 'Amazon Bedrock' },
              { value: 'vertex', label: 'Google Vertex AI' },
            ]}
            {...form.getInputProps('dialect')}
          />
        </Lockable>
        {isAzure && (
          <Lockable lock={lockOf('apiVersion')}>
            <TextInput
              label={names.apiVersion}
              placeholder="2025-04-01-preview"
              autoComplete="off"
              {...form.getInputProps('apiVersion')}
            />
          </Lockable>
        )}
      </Group>
    </>
  );
}

function ModelsFields({ form, lockOf }: ConnectionFieldsProps) {
  const { connection: names } = useMessages().providers;
  return (
    <Lockable lock={lockOf('models')}>
      <NativeSelect
        label={names.models}
        value={form.values.discovers ? 'discover' : 'list'}
        onChange={(event) => form.setFieldValue('discovers', event.currentTarget.value === 'discover')}
        data={[
          { value: 'discover', label: names.discover },
          { value: 'list', label: names.list },
        ]}
      />
      {!form.values.discovers && (
        <TagsInput
          label={names.modelNames}
          description={names.modelNamesHint}
          acceptValueOnBlur
          {...form.getInputProps('models')}
        />
      )}
    </Lockable>
  );
}
