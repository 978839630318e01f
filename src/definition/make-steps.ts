import type { RouteStep } from './definition.ts'
import type { DefinitionContext } from './definition-context.ts'
import { makeAction } from './make-action.ts'
import { entriesOf, itemsOf, textOf, valueOf, type Node } from './node.ts'
import { didYouMean } from './section.ts'

/** The steps of a method, and the names of those that it or its groups remove. */
export interface Steps {
  readonly steps: readonly RouteStep[]
  readonly without: readonly string[]
}

/**
 * Reads `steps` and `without` of a group, a route or a method: the steps of the groups around it run first, except those
 * that it removes.
 */
export function makeSteps(context: DefinitionContext, node: Node, outer: Steps): Steps {
  const removed = readRemoved(context, node, outer)
  const steps = outer.steps.filter(({ name }) => !removed.includes(name))
  const { report } = context.loading
  for (const item of itemsOf(valueOf(node, 'steps'))) {
    for (const { key: name, keySpan, value } of entriesOf(item)) {
      if (steps.some((one) => one.name === name)) {
        const problem = `The step "${name}" is duplicated: a group, the route or this list already contains it`
        const hint = 'Give it another name, or remove one of the two'
        report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: keySpan, parameters: { problem }, hint })
        continue
      }
      const action = makeAction(context, value, 'step')
      if (action !== undefined) steps.push({ name, action })
    }
  }
  const own = new Set(steps.map(({ name }) => name))
  return { steps, without: [...new Set([...outer.without, ...removed])].filter((name) => !own.has(name)) }
}

function readRemoved({ loading: { report } }: DefinitionContext, node: Node, { steps, without }: Steps): string[] {
  const known = steps.map(({ name }) => name)
  return itemsOf(valueOf(node, 'without')).flatMap((at) => {
    const name = textOf(at)
    if (name === undefined) return []
    if (known.includes(name)) return [name]
    if (without.includes(name) || report.isUnclear(node)) return []
    const suggestion = report.findNearest(name, known)
    const problem = `"${name}" is not a step of its group or route`
    const all = known.length === 0 ? 'Remove "without"' : `Its steps are ${known.join(', ')}`
    const hint = suggestion === undefined ? all : didYouMean(suggestion, undefined)
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, hint })
    return []
  })
}
