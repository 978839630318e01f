import type { DeployPlan } from '../../src/project/index.ts'
import { printable } from './dev-lines.ts'
import { paint } from './paint.ts'

const signs = { added: ['+', 'green'], changed: ['~', 'yellow'], removed: ['-', 'red'] } as const

/** What a release adds, changes and removes, a line each. */
export function formatChanges(changes: DeployPlan['changes'], stream: NodeJS.WriteStream): string[] {
  return changes.map(({ change, kind, name, details }) => {
    const [sign, colour] = signs[change]
    const told = details.map(({ text }) => `   ${printable(text)}`).join('')
    return `  ${paint(colour, sign, stream)} ${kind.padEnd(11)}${printable(name)}${told}`
  })
}
