import { useQueryClient } from '@tanstack/react-query'
import { call, type Entry } from '../api/call.ts'
import { announce } from './announce.tsx'
import { State, type Tone } from './badge.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { listenersTexts as texts, runTexts } from './run-texts.ts'

export type Listener = Entry<'GET /listener'>
export type Run = Entry<'GET /run'>

const tones: Readonly<Record<Run['status'] | 'retrying', Tone>> = {
  pending: 'info',
  retrying: 'warn',
  running: 'info',
  done: 'good',
  dead: 'bad',
  cancelled: 'quiet',
}

export function RunState({ run: { status, failures } }: { readonly run: Pick<Run, 'status' | 'failures'> }) {
  const shown = status === 'pending' && failures > 0 ? 'retrying' : status
  return <State tone={tones[shown]}>{runTexts.states[shown]}</State>
}

/** What is to be done with many runs of a listener. */
export interface ManyRuns {
  readonly what: 'cancel' | 'replay'
  readonly listener: Listener
}

/** Asks before all waiting runs of a listener are cancelled, or all dead ones replayed. */
export function ManyRunsDialog({ what, listener, onClose }: ManyRuns & { onClose(): void }) {
  const queries = useQueryClient()
  const { name, pending, dead } = listener
  const count = what === 'cancel' ? pending : dead
  const act = async () => {
    const path = what === 'cancel' ? 'POST /listener/:name/cancel' : 'POST /listener/:name/replay'
    const { runs } = await call(path, { params: { name } })
    announce(what === 'cancel' ? texts.cancelled(runs) : texts.replayed(runs))
    await Promise.all(['listener', 'run'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
  }
  return (
    <ConfirmDialog
      title={what === 'cancel' ? texts.cancelTitle(name) : texts.replayTitle(name)}
      action={what === 'cancel' ? texts.cancelCount(count) : texts.replay}
      command={`waypost event:${what} ${what === 'cancel' ? '' : '--dead '}--listener ${name}`}
      isDanger={what === 'cancel'}
      onConfirm={act}
      onClose={onClose}
    >
      {what === 'cancel' ? texts.cancelText(count) : texts.replayText(count)}
    </ConfirmDialog>
  )
}
