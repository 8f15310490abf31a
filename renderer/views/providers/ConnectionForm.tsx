import { Button, Collapse, Group, NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { ProviderView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useCommand } from '../../state/use-command.ts';
import { AdvancedFields } from './AdvancedFields.tsx';
import { isBaseUrl } from './base-url.ts';
import { type ConnectionValues, changesOf, valuesOf } from './connection-values.ts';
import classes from './Providers.module.css';

export type ConnectionFormState = UseFormReturnType<ConnectionValues>;

/** How a provider is reached. What is in force shows again as soon as it changes. */
export function ConnectionForm({ provider }: { provider: ProviderView }) {
  const { connection: names } = useMessages().providers;
  const form = useConnectionForm(provider);
  const canChange = useCanChange();
  const command = useCommand();
  const [showsAdvanced, setShowsAdvanced] = useState(false);
  const Chevron = showsAdvanced ? IconChevronDown : IconChevronRight;
  const save = (values: ConnectionValues) =>
    command.run({ type: 'provider.update', id: provider.id, changes: changesOf(values) });
  return (
    <Section title={names.title}>
      <form className={classes.body} onSubmit={form.onSubmit((values) => void save(values))} noValidate>
        <Stack gap="sm">
          <AddressFields form={form} />
          <ModelsFields form={form} />
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
            <AdvancedFields form={form} />
          </Collapse>
          {command.problem && <CommandProblem problem={command.problem} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" disabled={!form.isDirty()} onClick={() => form.reset()}>
              {names.undo}
            </Button>
            <Button type="submit" loading={command.isRunning} disabled={!canChange || !form.isDirty()}>
              {names.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function useConnectionForm(provider: ProviderView): ConnectionFormState {
  const { connection: names, add } = useMessages().providers;
  const form = useForm<ConnectionValues>({
    initialValues: valuesOf(provider),
    validate: {
      baseUrl: (value) => (isBaseUrl(value) ? null : add.addressWrong),
      proxyUrl: (value, { proxy }) => (proxy !== 'url' || isBaseUrl(value) ? null : names.proxyWrong),
    },
  });
  const { setInitialValues, setValues } = form;
  const inForce = JSON.stringify(valuesOf(provider));
  useEffect(() => {
    const values: ConnectionValues = JSON.parse(inForce);
    setInitialValues(values);
    setValues(values);
  }, [inForce, setInitialValues, setValues]);
  return form;
}

function AddressFields({ form }: { form: ConnectionFormState }) {
  const { add, connection: names } = useMessages().providers;
  const isAzure = form.values.dialect === 'azure';
  return (
    <>
      <TextInput label={add.name} maxLength={200} autoComplete="off" {...form.getInputProps('name')} />
      <TextInput
        label={add.address}
        description={add.addressHint}
        inputMode="url"
        autoComplete="off"
        {...form.getInputProps('baseUrl')}
      />
      <Group grow gap="sm" align="flex-start">
        <NativeSelect
          label={names.dialect}
          data={[
            { value: 'openai', label: 'OpenAI' },
            { value: 'azure', label: 'Azure OpenAI' },
          ]}
          {...form.getInputProps('dialect')}
        />
        {isAzure && (
          <TextInput
            label={names.apiVersion}
            placeholder="2025-04-01-preview"
            autoComplete="off"
            {...form.getInputProps('apiVersion')}
          />
        )}
      </Group>
    </>
  );
}

function ModelsFields({ form }: { form: ConnectionFormState }) {
  const { connection: names } = useMessages().providers;
  return (
    <>
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
    </>
  );
}
