import { Skeleton, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { RelativeTime } from '../components/time.tsx'
import { useServerDraft } from '../edit/draft.ts'
import { refreshDraft, saveChange } from '../edit/save-change.ts'
import { SelectField, TextField } from '../edit/fields.tsx'
import { pointerOf } from '../edit/values.ts'
import { ActionField } from './action-field.tsx'
import { EntryEditor, NewEntry, sections } from './entry-editor.tsx'
import { cronjobTexts as texts } from '../components/cronjob-texts.ts'

interface CronjobEditorProps {
  readonly name: string
  /** Buttons of the page, such as "Run now". */
  readonly actions?: ReactNode
  /** Its last runs. */
  readonly runs?: ReactNode
}

/** The editor of a cronjob, with its next runs while the schedule is typed. */
export function CronjobEditor({ name, actions, runs }: CronjobEditorProps) {
  return (
    <EntryEditor section={sections.cronjob} name={name} actions={actions}>
      {(edit, at) => {
        const schedule = edit.get(`${at}/schedule`)
        const timezone = edit.get(`${at}/timezone`)
        return (
          <>
            <TextField
              edit={edit}
              at={`${at}/schedule`}
              label={texts.schedule}
              description={texts.scheduleText}
              isRequired
              isMono
            />
            <SelectField
              edit={edit}
              at={`${at}/timezone`}
              label={texts.timezone}
              fallback="UTC"
              options={Intl.supportedValuesOf('timeZone')}
            />
            <NextRuns
              schedule={typeof schedule === 'string' ? schedule : ''}
              timezone={typeof timezone === 'string' ? timezone : 'UTC'}
            />
            <ActionField edit={edit} at={`${at}/action`} />
            <TextField
              edit={edit}
              at={`${at}/timeout`}
              label={texts.timeout}
              description={texts.timeoutText}
              fallback="1h"
            />
            {runs}
          </>
        )
      }}
    </EntryEditor>
  )
}

interface NextRunsProps {
  readonly schedule: string
  readonly timezone: string
}

const pauseMs = 250

/** The next five runs of a schedule, or what is wrong with it. */
function NextRuns({ schedule: typed, timezone }: NextRunsProps) {
  const [schedule] = useDebouncedValue(typed, pauseMs)
  const { data } = useQuery({
    queryKey: ['schedule', schedule, timezone],
    queryFn: ({ signal }) => call('GET /schedule', { query: { schedule, timezone } }, signal),
    enabled: schedule !== '',
    placeholderData: keepPreviousData,
  })
  if (schedule === '') return null
  return (
    <section className="stack-small" aria-live="polite">
      <h2>{texts.nextRuns}</h2>
      {data === undefined ? <Skeleton height={96} /> : null}
      {data === undefined || data.problem === null ? null : <p className="problem">{data.problem}</p>}
      {data?.problem === null && data.next.length === 0 ? <p>{texts.never}</p> : null}
      <ol className="next-runs">
        {data?.next.map((at) => (
          <li key={at}>
            {formatIn(at, timezone)} <span className="soft">·</span>{' '}
            <span className="soft">
              <RelativeTime value={at} canBeFuture />
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function formatIn(at: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone })
  return format.format(new Date(at))
}

/** Adds a cronjob with the file of its action. */
export function NewCronjob({ onClose }: { onClose(): void }) {
  const isServer = useServerDraft() !== undefined // servers cannot generate files
  const [schedule, setSchedule] = useState('0 4 * * *')
  return (
    <NewEntry
      section={sections.cronjob}
      {...(isServer ? { value: { schedule } } : {})}
      add={
        isServer
          ? undefined
          : async (name, queries) => {
              const file = `src/${name}.ts`
              const value = { schedule, action: file }
              // The file can only be generated for a cronjob that exists.
              await saveChange(
                queries,
                { edits: [{ at: pointerOf('cronjob', name), value, if: null }] },
                { withErrors: true },
              )
              const files = await call('GET /draft/action', {})
              if (!files.entry.some((one) => one.file === file)) await call('POST /draft/action', { body: { file } })
              await refreshDraft(queries)
            }
      }
      onClose={onClose}
    >
      <TextInput
        label={texts.schedule}
        description={texts.scheduleText}
        name="schedule"
        className="mono-input"
        value={schedule}
        onChange={(event) => setSchedule(event.currentTarget.value)}
      />
      <NextRuns schedule={schedule} timezone="UTC" />
    </NewEntry>
  )
}
