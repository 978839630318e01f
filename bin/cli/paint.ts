import { styleText } from 'node:util'

/** The only colours that Waypost prints: `red` on "error", `yellow` on "warning", `cyan` on what can be copied. */
export type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim' | 'bold'

/** Text in a colour, or as it is where the stream takes none: no terminal, `NO_COLOR`, `TERM=dumb`, `--no-color`. */
export function paint(colour: Colour, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return hasColour(stream) ? styleText(colour, text, { validateStream: false }) : text
}

export function hasColour(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && stream.hasColors() && !process.argv.includes('--no-color')
}
