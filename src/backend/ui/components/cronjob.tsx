import { useQueryClient } from '@tanstack/react-query'
import { call, type Entry } from '../api/call.ts'
import { announce } from './announce.tsx'
import { State, type Tone } from './badge.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { RelativeTime } from './time.tsx'
import { cronjobsTexts as texts } from './cronjob-texts.ts'
import { operateTexts } from './operate-texts.ts'

const { none } = operateTexts

export function NextRun({ job: { next_at: next, is_late: isLate } }: { readonly job: Entry<'GET /cronjob'> }) {
  return (
    <>
      {next === null ? none : <RelativeTime value={next} canBeFuture />}
      {isLate ? (
        <p className="soft">
          <State tone="warn">{texts.late}</State> {texts.lateText}
        </p>
      ) : null}
    </>
  )
}

type Status = Entry<'GET /cronjob/:name/run'>['status']

const tones: Readonly<Record<Status, Tone>> = { running: 'info', done: 'good', failed: 'bad', lost: 'bad' }

export function CronjobState({ status }: { readonly status: Status }) {
  return <State tone={tones[status]}>{texts[status]}</State>
}

/** Asks before a cronjob runs. */
export function RunDialog({ name, onClose }: { readonly name: string; onClose(): void }) {
  const queries = useQueryClient()
  const run = async () => {
    await call('POST /cronjob/:name/run', { params: { name } })
    announce(texts.startedDone(name))
    await queries.invalidateQueries({ queryKey: ['cronjob'] })
  }
  return (
    <ConfirmDialog
      title={texts.runTitle(name)}
      action={texts.runAction(name)}
      command={`waypost cron:execute ${name}`}
      onConfirm={run}
      onClose={onClose}
    >
      {texts.runText}
    </ConfirmDialog>
  )
}
