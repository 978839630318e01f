import { shortId } from '../../../src/kit/index.ts'
import type { DeployPlan } from '../../../src/project/index.ts'
import { explainPlan, type PlanLine } from './explain-plan.ts'
import {
  describeAccess,
  describeCounts,
  describeMissing,
  describeNothing,
  describeServers,
  isNothing,
} from './plan-summary.ts'

const symbols = { added: '+', changed: '~', removed: '−' } as const
/** GitHub limits comments to 65,536 characters. */
const maxCharacters = 50_000

/** Formats a plan as a pull request comment, breaking changes first. Names are escaped. */
export function formatPlanMarkdown(plan: DeployPlan, migrates: boolean): string {
  const { target, active, id } = plan
  const head = `### Plan for ${code(target.address)}\n`
  if (isNothing(plan)) return `${head}\n${escape(describeNothing(plan))}\n`
  const from = active === undefined ? 'no release is active yet' : `${code(shortId(active.id))} is active`
  const summary = `${escape(describeServers(target))}; ${from}, this is ${code(shortId(id))}.`
  const lines = explainPlan({ ...plan, migrates })
  const isFirst = ({ breaking, isPublic }: PlanLine) => breaking || isPublic === true
  const rows = [...lines.filter(isFirst), ...lines.filter((line) => !isFirst(line))].map(formatRow)
  const table = ['| | kind | name | |', '|---|---|---|---|', ...cut(rows)]
  const sum = `**${escape(describeCounts(plan.changes))}.** ${escape(describeAccess(plan))}Nothing was changed on the target.`
  const forbids = plan.breakingChanges === 'forbid' && plan.changes.some((change) => change.breaking)
  const forbidden = forbids
    ? ` ${code('breaking_changes: forbid')} is set: deploying requires ${code('--allow-breaking')}.`
    : ''
  const missing = describeMissing(plan)
  const refused = missing === '' ? '' : ` ${escape(missing)}`
  return `${head}\n${summary}\n\n${table.join('\n')}\n\n${sum}${forbidden}${refused}\n`
}

function formatRow({ change, kind, name, remarks }: PlanLine): string {
  const told = remarks.map(({ text, breaking }) => `${breaking ? '**BREAKING** ' : ''}${escape(text)}`)
  return `| ${change === undefined ? '' : symbols[change]} | ${kind} | ${code(name)} | ${told.join('<br>')} |`
}

function cut(rows: readonly string[]): readonly string[] {
  let length = 0
  const shown = rows.filter((row) => (length += row.length + 1) <= maxCharacters)
  const rest = rows.length - shown.length
  return rest === 0 ? rows : [...shown, `| | | and ${rest} more | |`]
}

/** Escapes all markup, links and mentions. */
function escape(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>()#|!~$&@:]/g, (character) => `&#${character.codePointAt(0)};`)
}

function code(text: string): string {
  return `<code>${escape(text)}</code>`
}
