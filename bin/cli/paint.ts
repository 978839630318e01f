import { styleText } from 'node:util'
import { readEnvironment, variable, type Variables } from '../../src/kit/index.ts'

/** The only colours that Waypost prints: `red` on "error", `yellow` on "warning", `cyan` on what can be copied. */
export type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim' | 'bold'

/** Text in a colour, or as it is where the stream takes none: no terminal, `NO_COLOR`, `TERM=dumb`, `--no-color`. */
export function paint(colour: Colour, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return hasColour(stream) ? styleText(colour, text, { validateStream: false }) : text
}

/** Pipelines show colours, and have no terminal. */
function isForced(variables: Variables): boolean {
  const forced = variable(variables, 'FORCE_COLOR')
  return forced !== undefined && !['0', 'false'].includes(forced) && variable(variables, 'NO_COLOR') === undefined
}

export function hasColour(stream: NodeJS.WriteStream): boolean {
  if (process.argv.includes('--no-color')) return false
  return stream.isTTY ? stream.hasColors() : isForced(readEnvironment())
}
