import { Button, Checkbox, PasswordInput, Skeleton, Textarea } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { definitionQuery, tablesQuery } from '../api/definition.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { endSentence, ProblemAlert } from '../components/problem.tsx'
import { isBreakingWord, TypedWord } from '../components/typed-word.tsx'
import { refreshDraft, type Diagnostic, type Draft } from '../edit/draft.ts'
import { Warnings } from '../edit/warnings.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { useHasScope } from '../shell/scope-gate.tsx'
import { publish } from '../strings/publish.ts'
import type { DraftEntry, Plan } from './api.ts'
import { othersOf } from './change-groups.tsx'
import { findFirstCall } from './first-call.ts'
import { LostRollbacks } from './lost-rollbacks.tsx'
import { PlanChanges, PlanMigration } from './plan-changes.tsx'

const { plan: texts } = publish

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
      {chosen.length === 0 || data === undefined || isError ? null : (
        <PlanView draft={draft} plan={data} chosen={chosen} names={names} isStale={isPlaceholderData} />
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
  const navigate = useNavigate()
  const queries = useQueryClient()
  const me = useStore(sessionStore)?.user.name
  const mayPublish = useHasScope('backend.deploy')
  const mayGrant = useHasScope('backend.admin')
  const routes = useQuery(definitionQuery).data?.routes ?? []
  const tables = useQuery(tablesQuery).data?.entry ?? []
  const mine = useQuery({
    queryKey: ['user', 'owner', me],
    queryFn: ({ signal }) => call('GET /user/:user', { params: { user: me ?? '' } }, signal),
    enabled: mayGrant && me !== undefined,
  }).data
  const [message, setMessage] = useState('')
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const [isAsking, setAsking] = useState(false)
  const [typed, setTyped] = useState('')
  const [accepted, setAccepted] = useState<string | null>()
  const breaking = plan.changes.filter((one) => one.breaking)
  const others = plan.changes.filter((one) => !one.breaking && !plan.migrations.some(({ name }) => name === one.name))
  const isForbidden = breaking.length > 0 && plan.breaking_changes === 'forbid'
  const errors = plan.diagnostics.filter(({ severity }) => severity === 'error')
  const { access_warnings: access } = plan
  const isAccess = ({ code, file, line, column }: Diagnostic) =>
    access.some((one) => one.code === code && one.file === file && one.line === line && one.column === column)
  const warnings = plan.diagnostics.filter((one) => one.severity === 'warning' && !isAccess(one))
  // A plan of other changes has other warnings, which were not read.
  const mustAccept = access.length > 0 && accepted !== plan.release
  const isBlocked = [errors, plan.missing_variables, plan.older_servers, plan.dropped_migrations].some(
    ({ length }) => length > 0,
  )
  const granted = mayGrant ? plan.unheld_scopes.filter((scope) => !refused.has(scope)) : []
  const publishAll = async () => {
    const body = {
      ...(names === undefined ? {} : { changes: [...names] }),
      ...(message.trim() === '' ? {} : { message: message.trim() }),
      ...(plan.migrations.length === 0 ? {} : { migrate: true }),
      ...(breaking.length === 0 ? {} : { allow_breaking: true }),
      ...(access.length === 0 ? {} : { accept_access: true }),
      ...(granted.length === 0 ? {} : { grant: granted }),
      ...(plan.release === null ? {} : { release: plan.release }),
      against: plan.active,
    }
    const { id } = await call('POST /draft/publish', { body })
    const tried = findFirstCall(plan, { routes, tables, scopes: mine && [...mine.scopes, ...granted] })
    await navigate({ to: '/publish', search: tried === undefined ? { id } : { id, try: tried } })
    void refreshDraft(queries)
  }
  const publication = useMutation({ mutationFn: publishAll, onError: () => void refreshDraft(queries) })
  const stillOthers = othersOf(chosen, me)
  return (
    <>
      <div className="publish-body stack" tabIndex={0} role="group" aria-label={texts.title}>
        {errors.length === 0 ? null : <Diagnostics errors={errors} />}
        {plan.older_servers.map(({ name, version }) => (
          <p key={name} className="warnings" role="alert">
            {texts.older(name, version)}
          </p>
        ))}
        {plan.dropped_migrations.length === 0 ? null : (
          <p className="warnings" role="alert" dir="auto">
            {texts.dropped(plan.dropped_migrations)}
          </p>
        )}
        {breaking.length === 0 ? null : (
          <section className="publish-breaking">
            <h3>{texts.breaking(breaking.length)}</h3>
            <PlanChanges changes={breaking} />
          </section>
        )}
        {plan.migrations.length === 0 ? null : (
          <section>
            <h3>{texts.migrations}</h3>
            <p className="soft">{plan.active === null ? texts.migrationsFirst : texts.migrationsText}</p>
            {plan.migrations.map((migration) => (
              <PlanMigration key={migration.name} migration={migration} />
            ))}
            <LostRollbacks rollbacks={plan.rollbacks} />
          </section>
        )}
        <Warnings title={texts.access(access.length)} warnings={access} isWhole />
        <Warnings title={texts.warnings(warnings.length)} warnings={warnings} />
        {plan.missing_variables.length === 0 ? null : (
          <section>
            <h3>{texts.variables}</h3>
            <p className="soft">{texts.variablesText}</p>
            {plan.missing_variables.map((variable) => (
              <MissingVariable key={variable.name} variable={variable} />
            ))}
          </section>
        )}
        {plan.new_variable_uses.length === 0 ? null : (
          <Listed title={texts.newUses}>
            {plan.new_variable_uses.map(({ name, uses }) => (
              <li key={name} dir="auto">
                {texts.newUse(name, uses)}
              </li>
            ))}
          </Listed>
        )}
        {draft.variables.length === 0 ? null : (
          <Listed title={texts.staged}>
            {draft.variables.map(({ name, by }) => (
              <li key={name}>
                <bdi className="mono">{name}</bdi> <bdi className="soft">{texts.stagedBy(by)}</bdi>
              </li>
            ))}
          </Listed>
        )}
        {others.length === 0 ? null : (
          <section>
            <h3>{texts.other}</h3>
            <PlanChanges changes={others} />
          </section>
        )}
        {plan.changes.length === 0 && errors.length === 0 ? <p className="soft">{texts.nothing}</p> : null}
      </div>
      <div className="publish-end stack">
        {plan.unheld_scopes.map((scope) => (
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
                  setRefused(next)
                }}
              />
            ) : null}
          </div>
        ))}
        {access.length === 0 || !mayPublish ? null : (
          <div className="publish-grant">
            <p>{texts.access(access.length)}.</p>
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
              disabled={isBlocked || isStale || mustAccept}
              loading={publication.isPending}
              onClick={() => {
                setTyped('')
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
        {isAsking ? (
          <ConfirmDialog
            title={breaking.length > 0 ? texts.confirmTitle(breaking.length) : texts.migrateTitle}
            action={plan.migrations.length > 0 ? texts.migrate : texts.publish}
            isDanger
            isDisabled={isForbidden && !isBreakingWord(typed)}
            onConfirm={publishAll}
            onClose={() => setAsking(false)}
          >
            <div className="stack-small">
              {breaking.length === 0 ? null : <p>{texts.confirmText}</p>}
              <PlanChanges changes={breaking} />
              <LostRollbacks rollbacks={plan.rollbacks} />
              {isForbidden ? <TypedWord value={typed} onChange={setTyped} /> : null}
            </div>
          </ConfirmDialog>
        ) : null}
      </div>
    </>
  )
}

function Diagnostics({ errors }: { readonly errors: Plan['diagnostics'] }) {
  return (
    <div className="problem" role="alert">
      <p>
        {texts.problems(errors.length)}. {texts.problemsText}
      </p>
      <ul className="refused">
        {errors.map(({ file, line, message, hint }) => (
          <li key={`${file}:${line} ${message}`}>
            <span dir="auto">{endSentence(message)}</span>
            {hint === null ? null : <span dir="auto"> {endSentence(hint)}</span>}{' '}
            <Link to="/files/$file" params={{ file }} className="mono">
              {file}:{line}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function MissingVariable({ variable }: { readonly variable: Plan['missing_variables'][number] }) {
  const { name, uses, servers } = variable
  const queries = useQueryClient()
  const [value, setValue] = useState('')
  const setting = useMutation({
    mutationFn: () => call('PUT /draft/variable/:name', { params: { name }, body: { value } }),
    onSuccess: async () => {
      announce(texts.valueSet(name))
      await refreshDraft(queries)
    },
  })
  return (
    <form
      className="publish-variable"
      onSubmit={(event) => {
        event.preventDefault()
        if (value !== '') setting.mutate()
      }}
    >
      <PasswordInput
        label={<span className="mono">{name}</span>}
        description={[texts.usedBy(uses), texts.lackingOn(servers)].filter(Boolean).join('. ')}
        aria-label={texts.value(name)}
        autoComplete="off"
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
        error={setting.isError ? setting.error.message : undefined}
      />
      <Button type="submit" variant="default" loading={setting.isPending} disabled={value === ''}>
        {texts.set}
      </Button>
    </form>
  )
}

function Listed({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul>{children}</ul>
    </section>
  )
}
