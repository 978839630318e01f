import { Button, PasswordInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { endSentence } from '../components/problem.tsx'
import type { Diagnostic, Draft } from '../edit/draft.ts'
import { refreshDraft } from '../edit/save-change.ts'
import { Warnings } from '../edit/warnings.tsx'
import type { Plan } from './api.ts'
import { LostRollbacks } from './lost-rollbacks.tsx'
import { PlanChanges, PlanMigration } from './plan-changes.tsx'
import { planTexts as texts } from './publish-texts.ts'

interface PlanBodyProps {
  readonly draft: Draft
  readonly plan: Plan
}

/** What publishing changes: first what prevents it, then what breaks. */
export function PlanBody({ draft, plan }: PlanBodyProps) {
  const breaking = plan.changes.filter((one) => one.breaking)
  const others = plan.changes.filter((one) => !one.breaking && !plan.migrations.some(({ name }) => name === one.name))
  const errors = plan.diagnostics.filter(({ severity }) => severity === 'error')
  const { access_warnings: access } = plan
  const isAccess = ({ code, file, line, column }: Diagnostic) =>
    access.some((one) => one.code === code && one.file === file && one.line === line && one.column === column)
  const warnings = plan.diagnostics.filter((one) => one.severity === 'warning' && !isAccess(one))
  return (
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
              <bdi translate="no" className="mono">
                {name}
              </bdi>{' '}
              <bdi className="soft">{texts.stagedBy(by)}</bdi>
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
            <Link translate="no" to="/files/$file" params={{ file }} className="mono">
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
        label={
          <span translate="no" className="mono">
            {name}
          </span>
        }
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
