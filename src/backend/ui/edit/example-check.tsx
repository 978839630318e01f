import { Button, Group } from '@mantine/core'
import { useMemo } from 'react'
import { checkExample, type ExampleProblem } from './check-example.ts'
import { CodeEditor } from './code-editor.tsx'
import { exampleOf } from './make-schema.ts'
import type { NamedSchemas } from './schema-rows.ts'
import { isEqual, isMap } from './values.ts'
import { numbers } from '../components/format.ts'

const texts = {
  label: (name: string) => `Example of ${name}`,
  text: 'Checked while you type.',
  fits: 'The example fits the schema.',
  problems: (amount: number) => (amount === 1 ? '1 problem' : `${numbers.format(amount)} problems`),
  line: (line: number) => `Line ${line}`,
  make: 'Generate a new example',
  keep: 'Save in the schema',
  kept: 'The schema contains this example. It is shown in the API reference.',
} as const

interface ExampleCheckProps {
  readonly schema: unknown
  /** The schemas that it may refer to, by name. */
  readonly named: NamedSchemas
  /** The name of the schema. */
  readonly label: string
  /** What was typed; undefined for the first example of the schema, or one that is made from it. */
  readonly text: string | undefined
  onChange(text: string | undefined): void
  /** Stores the example in the schema. */
  onKeep?(examples: readonly unknown[]): void
}

/** An example of a schema, checked while it is typed. */
export function ExampleCheck({ schema, named, label, text, onChange, onKeep }: ExampleCheckProps) {
  const shown = text ?? JSON.stringify(exampleOf(schema, named), null, 2)
  const { value, problems } = useMemo(() => checkExample(shown, schema, named), [shown, schema, named])
  const kept = isMap(schema) && Array.isArray(schema['examples']) ? (schema['examples'] as readonly unknown[]) : []
  const isKept = kept.some((one) => isEqual(one, value))
  return (
    <div className="example">
      <CodeEditor
        value={shown}
        onChange={onChange}
        language="json"
        label={texts.label(label)}
        diagnostics={problems.map((problem) => toDiagnostic(shown, problem))}
      />
      <div className="example-result">
        <div role="status">
          {problems.length === 0 ? (
            <p className="example-good">{texts.fits}</p>
          ) : (
            <>
              <p className="example-bad">{texts.problems(problems.length)}</p>
              <ul className="example-problems">
                {problems.map(({ line, at, message }) => (
                  <li key={`${line} ${at} ${message}`}>
                    <span className="soft nowrap">{texts.line(line)}</span>{' '}
                    <span dir="auto">
                      {at === '' ? null : <code translate="no">{at} </code>}
                      {message}
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
        <Group gap="xs">
          <Button variant="default" onClick={() => onChange(undefined)} disabled={text === undefined}>
            {texts.make}
          </Button>
          {onKeep === undefined || isKept ? null : (
            <Button variant="default" disabled={problems.length > 0} onClick={() => onKeep([value, ...kept.slice(1)])}>
              {texts.keep}
            </Button>
          )}
        </Group>
        {isKept ? <p className="soft">{texts.kept}</p> : null}
      </div>
    </div>
  )
}

function toDiagnostic(text: string, { from, to, message }: ExampleProblem) {
  const start = placeOf(text, from)
  const end = placeOf(text, to)
  return {
    severity: 'error' as const,
    message,
    hint: null,
    line: start.line,
    column: start.column,
    end_line: end.line,
    end_column: end.column,
  }
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
