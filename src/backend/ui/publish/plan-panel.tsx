import { Button, Checkbox, Skeleton, Textarea } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { definitionQuery, tablesQuery } from '../api/definition.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { isBreakingWord, TypedWord } from '../components/typed-word.tsx'
import type { Draft } from '../edit/draft.ts'
import { refreshDraft } from '../edit/save-change.ts'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { useHasScope } from '../shell/scope-gate.tsx'
import type { DraftEntry, Plan } from './api.ts'
import { othersOf } from './change-groups.tsx'
import { findFirstCall } from './first-call.ts'
import { LostRollbacks } from './lost-rollbacks.tsx'
import { PlanBody } from './plan-body.tsx'
import { PlanChanges } from './plan-changes.tsx'
import { planTexts as texts } from './publish-texts.ts'

interface PlanPanelProps {
  readonly draft: Draft
  /** The changes to publish. */
  readonly chosen: readonly DraftEntry[]
  readonly isAll: boolean
}

/** Shows what publishing changes: first what breaks, then migrations and requirements. Publishes. */
export function PlanPanel({ draft, chosen, isAll }: PlanPanelProps) {
  const names = isAll ? undefined : chosen.map(({ name }) => name)
  const { data, error, isError, isPlaceholderData, refetch } = useQuery({
    queryKey: ['draft', 'plan', draft.revision, names ?? 'all'],
    queryFn: ({ signal }) =>
      call('POST /draft/plan', { body: names === undefined ? {} : { changes: [...names] } }, signal),
    enabled: chosen.length > 0,
    placeholderData: keepPreviousData,
  })
  return (
    <aside className="publish-plan" aria-label={texts.title} aria-busy={isPlaceholderData}>
      <h2 tabIndex={-1}>{texts.title}</h2>
      {chosen.length === 0 ? <p className="soft">{texts.none}</p> : null}
      {isError ? <ProblemAlert error={error} onRetry={() => void refetch()} /> : null}
      {chosen.length > 0 && data === undefined && !isError ? <Skeleton height={160} /> : null}
      {chosen.length === 0 || data === undefined ? null : (
        <PlanView draft={draft} plan={data} chosen={chosen} names={names} isStale={isPlaceholderData || isError} />
      )}
    </aside>
  )
}

interface PlanViewProps {
  readonly draft: Draft
  readonly plan: Plan
  readonly chosen: readonly DraftEntry[]
  readonly names: readonly string[] | undefined
  /** Whether the plan belongs to an earlier selection. */
  readonly isStale: boolean
}

function PlanView({ draft, plan, chosen, names, isStale }: PlanViewProps) {
  const me = useStore(sessionStore)?.user.name
  const mayPublish = useHasScope('backend.deploy')
  const mayGrant = useHasScope('backend.admin')
  const [message, setMessage] = useState('')
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const [isAsking, setAsking] = useState(false)
  const [accepted, setAccepted] = useState<string | null>()
  const breaking = plan.changes.filter((one) => one.breaking)
  // A plan of other changes has other warnings, which were not read.
  const mustAccept = plan.access_warnings.length > 0 && accepted !== plan.release
  const granted = mayGrant ? plan.unheld_scopes.filter((scope) => !refused.has(scope)) : []
  const publishAll = usePublishing({ plan, names, message: message.trim(), granted })
  const queries = useQueryClient()
  const publication = useMutation({ mutationFn: publishAll, onError: () => void refreshDraft(queries) })
  const stillOthers = othersOf(chosen, me)
  return (
    <>
      <PlanBody draft={draft} plan={plan} />
      <div className="publish-end stack">
        <Grants scopes={plan.unheld_scopes} mayGrant={mayGrant} refused={refused} onChange={setRefused} />
        {plan.access_warnings.length === 0 || !mayPublish ? null : (
          <div className="publish-grant">
            <p>{texts.access(plan.access_warnings.length)}.</p>
            <Checkbox
              label={texts.accept}
              checked={!mustAccept}
              onChange={(event) => setAccepted(event.currentTarget.checked ? plan.release : undefined)}
            />
          </div>
        )}
        {mayPublish ? (
          <>
            <Textarea
              label={texts.message}
              placeholder={texts.messagePlaceholder}
              dir="auto"
              autosize
              minRows={1}
              maxRows={4}
              maxLength={1000}
              value={message}
              onChange={(event) => setMessage(event.currentTarget.value)}
            />
            {stillOthers.length === 0 ? null : <p className="soft">{texts.others(stillOthers)}</p>}
            {publication.isError ? <ProblemAlert error={publication.error} /> : null}
            <Button
              fullWidth
              {...(breaking.length > 0 ? { color: 'red.6' } : {})}
              disabled={isBlocked(plan) || isStale || mustAccept}
              loading={publication.isPending}
              onClick={() => {
                if (breaking.length > 0 || plan.rollbacks.lost.length > 0) setAsking(true)
                else publication.mutate()
              }}
            >
              {breaking.length > 0
                ? texts.breakingAction(breaking.length)
                : plan.migrations.length > 0
                  ? texts.migrate
                  : texts.publish}
            </Button>
          </>
        ) : (
          <p className="soft">{texts.noScope}</p>
        )}
        {isAsking ? <ConfirmPublishing plan={plan} onConfirm={publishAll} onClose={() => setAsking(false)} /> : null}
      </div>
    </>
  )
}

/** Whether something must be solved first. */
function isBlocked({
  diagnostics,
  missing_variables: variables,
  older_servers: older,
  dropped_migrations: dropped,
}: Plan) {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return [errors, variables, older, dropped].some(({ length }) => length > 0)
}

interface PublishingOptions {
  readonly plan: Plan
  readonly names: readonly string[] | undefined
  readonly message: string
  /** The scopes that the user who publishes gets. */
  readonly granted: readonly string[]
}

/** Returns what publishes and opens the page that follows it. */
function usePublishing({ plan, names, message, granted }: PublishingOptions): () => Promise<void> {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const me = useStore(sessionStore)?.user.name
  const mayGrant = useHasScope('backend.admin')
  const routes = useQuery(definitionQuery).data?.routes ?? []
  const tables = useQuery(tablesQuery).data?.entry ?? []
  const mine = useQuery({
    queryKey: ['user', 'owner', me],
    queryFn: ({ signal }) => call('GET /user/:user', { params: { user: me ?? '' } }, signal),
    enabled: mayGrant && me !== undefined,
  }).data
  return async () => {
    const body = {
      ...(names === undefined ? {} : { changes: [...names] }),
      ...(message === '' ? {} : { message }),
      ...(plan.migrations.length === 0 ? {} : { migrate: true }),
      ...(plan.changes.some((one) => one.breaking) ? { allow_breaking: true } : {}),
      ...(plan.access_warnings.length === 0 ? {} : { accept_access: true }),
      ...(granted.length === 0 ? {} : { grant: [...granted] }),
      ...(plan.release === null ? {} : { release: plan.release }),
      against: plan.active,
    }
    const { id } = await call('POST /draft/publish', { body })
    const tried = findFirstCall(plan, { routes, tables, scopes: mine && [...mine.scopes, ...granted] })
    await navigate({ to: '/publish', search: tried === undefined ? { id } : { id, try: tried } })
    void refreshDraft(queries)
  }
}

interface GrantsProps {
  /** The scopes that no user has. */
  readonly scopes: readonly string[]
  readonly mayGrant: boolean
  readonly refused: ReadonlySet<string>
  onChange(refused: ReadonlySet<string>): void
}

function Grants({ scopes, mayGrant, refused, onChange }: GrantsProps) {
  return scopes.map((scope) => (
    <div key={scope} className="publish-grant">
      <p>{texts.unheld(scope)}.</p>
      {mayGrant ? (
        <Checkbox
          label={texts.grant}
          aria-label={texts.grantOf(scope)}
          checked={!refused.has(scope)}
          onChange={(event) => {
            const next = new Set(refused)
            if (event.currentTarget.checked) next.delete(scope)
            else next.add(scope)
            onChange(next)
          }}
        />
      ) : null}
    </div>
  ))
}

interface ConfirmPublishingProps {
  readonly plan: Plan
  onConfirm(): Promise<void>
  onClose(): void
}

function ConfirmPublishing({ plan, onConfirm, onClose }: ConfirmPublishingProps) {
  const [typed, setTyped] = useState('')
  const breaking = plan.changes.filter((one) => one.breaking)
  const isForbidden = breaking.length > 0 && plan.breaking_changes === 'forbid'
  return (
    <ConfirmDialog
      title={breaking.length > 0 ? texts.confirmTitle(breaking.length) : texts.migrateTitle}
      action={plan.migrations.length > 0 ? texts.migrate : texts.publish}
      isDanger
      isDisabled={isForbidden && !isBreakingWord(typed)}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <div className="stack-small">
        {breaking.length === 0 ? null : <p>{texts.confirmText}</p>}
        <PlanChanges changes={breaking} />
        <LostRollbacks rollbacks={plan.rollbacks} />
        {isForbidden ? <TypedWord value={typed} onChange={setTyped} /> : null}
      </div>
    </ConfirmDialog>
  )
}
