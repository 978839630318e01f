import { Checkbox, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type ResponseOf } from '../api/call.ts'
import { useHasDraft, useServerDraft } from '../edit/draft.ts'
import { announce } from './announce.tsx'
import { ChangeList } from './change-list.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { endSentence, ProblemAlert } from './problem.tsx'
import { shortId } from './release-link.tsx'
import { isBreakingWord, TypedWord } from './typed-word.tsx'
import { releasesTexts as listTexts, rollBackTexts as texts } from './release-texts.ts'

const keepTexts = {
  keep: 'Keep the undone changes in the draft',
  keepBlocked: 'The draft has changes. Publish or discard them to keep the undone changes.',
} as const

interface RollBackDialogProps {
  /** The release to return to. */
  readonly id: string
  /** Whether it is newer than the active release. */
  readonly isNewer: boolean
  onClose(): void
  onDone(): Promise<unknown>
}

/** The name of the action. */
export function rollBackLabel(id: string, isNewer: boolean): string {
  return (isNewer ? listTexts.activateAgain : listTexts.rollBackTo)(shortId(id))
}

/** Shows what a rollback changes and which servers lack something, and asks before it activates the release. */
export function RollBackDialog({ id, isNewer, onClose, onDone }: RollBackDialogProps) {
  const survey = useQuery({
    queryKey: ['release', id, 'rollback'],
    queryFn: ({ signal }) => call('GET /release/:id/rollback', { params: { id } }, signal),
    staleTime: 0,
  })
  const { canKeep, hasChanges, isKeeping, setKeeps } = useKeeping()
  const queries = useQueryClient()
  const active = survey.data?.active ?? undefined
  const [typed, setTyped] = useState('')
  const isForbidden = survey.data?.breaking_changes === 'forbid' && survey.data.changes.some(({ breaking }) => breaking)
  const problem = survey.data?.problem ?? undefined
  const missing = useMissing(survey.data)
  const allowsBreaking = isForbidden && isBreakingWord(typed)
  const isAllowed = (!isForbidden || allowsBreaking) && missing.isAccepted
  const isReady = survey.data !== undefined && problem === undefined && isAllowed
  const rollBack = async () => {
    const body = {
      against: active ?? 'none',
      ...(isKeeping ? { keep_draft: true } : {}),
      ...(isForbidden ? { allow_breaking: true } : {}),
      ...(missing.isLacking ? { allow_missing: true } : {}),
    }
    await call('POST /release/:id/rollback', { params: { id }, body })
    await queries.invalidateQueries({ queryKey: ['draft'] })
    announce((isNewer ? texts.doneAgain : texts.done)(shortId(id)))
    await onDone()
  }
  return (
    <ConfirmDialog
      title={(isNewer ? texts.titleAgain : texts.title)(shortId(id))}
      action={rollBackLabel(id, isNewer)}
      command={commandOf(id, { allowsBreaking, allowsMissing: missing.isGranted })}
      isDanger
      isDisabled={!isReady}
      onConfirm={rollBack}
      onClose={onClose}
    >
      <div className="stack">
        <p>{texts.text}</p>
        {survey.isError ? <ProblemAlert error={survey.error} /> : null}
        {survey.data === undefined ? null : <Concerns {...survey.data} />}
        {problem === undefined ? <AllowMissing {...missing} /> : null}
        {canKeep ? (
          <Checkbox
            label={keepTexts.keep}
            description={hasChanges ? keepTexts.keepBlocked : undefined}
            disabled={hasChanges}
            checked={isKeeping}
            onChange={(event) => setKeeps(event.currentTarget.checked)}
          />
        ) : null}
        <Changes {...survey} />
        {isForbidden && problem === undefined ? <TypedWord value={typed} onChange={setTyped} /> : null}
      </div>
    </ConfirmDialog>
  )
}

interface Allowed {
  readonly allowsBreaking: boolean
  readonly allowsMissing: boolean
}

function commandOf(id: string, { allowsBreaking, allowsMissing }: Allowed): string {
  const flags = [...(allowsBreaking ? ['--allow-breaking'] : []), ...(allowsMissing ? ['--allow-missing'] : [])]
  return ['waypost release:rollback', shortId(id), ...flags].join(' ')
}

interface ChangesProps {
  readonly data: ResponseOf<'GET /release/:id/rollback'> | undefined
  readonly isError: boolean
}

function Changes({ data, isError }: ChangesProps) {
  if (data !== undefined) return <ChangeList changes={data.changes} />
  return isError ? null : <Skeleton height={48} />
}

/** Whether the changes that the rollback undoes stay in the draft. */
function useKeeping() {
  const draft = useServerDraft()
  const canKeep = useHasDraft() && draft !== undefined
  const hasChanges = (draft?.entries.length ?? 0) > 0
  const [keeps, setKeeps] = useState(true)
  return { canKeep, hasChanges, isKeeping: canKeep && keeps && !hasChanges, setKeeps }
}

/** Whether servers lack variables of the release, and whether that is allowed. */
function useMissing(survey: ResponseOf<'GET /release/:id/rollback'> | undefined) {
  const isLacking = (survey?.missing_variables ?? []).some(({ servers }) => servers.length > 0)
  const [isAllowed, setAllowed] = useState(false)
  return { isLacking, isAllowed, isGranted: isLacking && isAllowed, isAccepted: !isLacking || isAllowed, setAllowed }
}

function AllowMissing({ isLacking, isAllowed, setAllowed }: ReturnType<typeof useMissing>) {
  if (!isLacking) return null
  return (
    <Checkbox
      label={texts.allowMissing}
      checked={isAllowed}
      onChange={(event) => setAllowed(event.currentTarget.checked)}
    />
  )
}

/** Why the release cannot be activated, and what servers lack for it. */
function Concerns(survey: ResponseOf<'GET /release/:id/rollback'>) {
  const { problem } = survey
  const warnings = [
    ...survey.missing_variables.map(({ name, servers }) => texts.notSetOn(name, servers)),
    ...survey.unknown_migrations.map(texts.unknownMigration),
    ...survey.unreachable.map(texts.unreachable),
  ]
  return (
    <>
      {problem === null ? null : (
        <p className="warnings" role="alert" dir="auto">
          {endSentence(problem.message)} {problem.hint === null ? null : endSentence(problem.hint)}
        </p>
      )}
      {warnings.length === 0 ? null : (
        <ul className="warnings">
          {warnings.map((warning) => (
            <li key={warning} dir="auto">
              {warning}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
