import { ActionIcon, Button, Checkbox, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ArrowUp, Plus, X } from 'lucide-react'
import { call } from '../api/call.ts'
import { inputProps, SelectField } from '../edit/fields.tsx'
import { SchemaForm } from '../edit/schema-form.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { useActionFiles } from './action-field.tsx'
import { placesOf, Section, type PartProps, type ServedMethod } from './route-section.tsx'
import { stepTexts as texts } from './route-texts.ts'

interface StepsSectionProps extends PartProps {
  readonly served: ServedMethod
}

/** The steps of a method, those that it gets from its path and the groups around it, and which of them it leaves out. */
export function StepsSection({ edit, method, path, served }: StepsSectionProps) {
  const at = placesOf(method, path)
  const owners = [path, ...(served?.groups ?? [])]
  const shared = owners.map((owner) => ({ owner, at: `${pointerOf('routes', owner)}/steps` }))
  const inherited = shared.flatMap((one) => readSteps(edit.get(one.at)).map(({ name }) => ({ name, owner: one.owner })))
  return (
    <Section title={texts.title}>
      <StepList edit={edit} at={`${at.method}/steps`} label={texts.own} />
      {shared.map((one) => (
        <StepList key={one.owner} edit={edit} at={one.at} label={texts.of(one.owner)} />
      ))}
      <Skipped edit={edit} at={`${at.method}/without`} inherited={inherited} />
    </Section>
  )
}

/** A step: a map with one name. */
interface Step {
  readonly name: string
  /** A file, or a class with its config. */
  readonly code: unknown
}

function readSteps(value: unknown): readonly Step[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((one) => (isMap(one) ? Object.entries(one).map(([name, code]) => ({ name, code })) : []))
}

interface StepListProps extends Pick<PartProps, 'edit'> {
  readonly at: string
  readonly label: string
}

/** The steps of one place, in the order in which they run. */
function StepList({ edit, at, label }: StepListProps) {
  const steps = readSteps(edit.get(at))
  const set = (next: readonly Step[]) =>
    edit.set(at, next.length === 0 ? undefined : next.map(({ name, code }) => ({ [name]: code ?? '' })))
  const add = () => set([...steps, { name: newName(steps), code: '' }])
  return (
    <section className="stack-small" aria-label={label}>
      <h3>{label}</h3>
      {steps.map((step, index) => (
        <StepRow
          key={index}
          edit={edit}
          at={`${at}/${index}`}
          step={step}
          number={index + 1}
          onChange={(next) => set(steps.with(index, next))}
          onRemove={() => set(steps.toSpliced(index, 1))}
          {...(index === 0 ? {} : { onRaise: () => set(steps.toSpliced(index - 1, 2, step, steps[index - 1]!)) })}
        />
      ))}
      <span>
        <Button variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={add}>
          {texts.add(label)}
        </Button>
      </span>
    </section>
  )
}

function newName(steps: readonly Step[]): string {
  for (let number = steps.length + 1; ; number += 1)
    if (steps.every(({ name }) => name !== `step${number}`)) return `step${number}`
}

interface StepRowProps extends Pick<PartProps, 'edit'> {
  /** The pointer of the map with the step. */
  readonly at: string
  readonly step: Step
  readonly number: number
  onChange(step: Step): void
  onRemove(): void
  onRaise?(): void
}

function StepRow({ edit, at, step, number, onChange, onRemove, onRaise }: StepRowProps) {
  const { name, code } = step
  const classes = useStepClasses()
  const files = useActionFiles().data?.entry.map(({ file }) => file) ?? []
  const known = classes.find((one) => isMap(code) && one.name === code['class'])
  const place = `${at}/${name}`
  const chosen = isMap(code) ? `class ${String(code['class'])}` : code
  const choose = (next: unknown) => {
    const text = typeof next === 'string' ? next : ''
    onChange({ name, code: text.startsWith('class ') ? { class: text.slice('class '.length) } : text })
  }
  return (
    <div className="stack-small">
      <div className="step-row">
        <TextInput
          {...inputProps({ edit, at, label: texts.name(number), isBare: true })}
          className="mono-input"
          value={name}
          onChange={(event) => onChange({ name: event.currentTarget.value.trim(), code })}
        />
        <SelectField
          edit={{ ...edit, get: () => (chosen === '' ? undefined : chosen), set: (_place, next) => choose(next) }}
          at={place}
          label={texts.code(number)}
          isBare
          isRequired
          isMono
          options={[...files, ...classes.map((one) => ({ value: `class ${one.name}`, label: texts.class(one.name) }))]}
        />
        <ActionIcon size={28} aria-label={texts.raise(name)} disabled={onRaise === undefined} onClick={onRaise}>
          <ArrowUp size={14} aria-hidden />
        </ActionIcon>
        <ActionIcon size={28} aria-label={texts.remove(name)} onClick={onRemove}>
          <X size={14} aria-hidden />
        </ActionIcon>
      </div>
      {known === undefined ? null : (
        <SchemaForm key={known.name} edit={edit} at={`${place}/config`} schema={known.config} />
      )}
    </div>
  )
}

/** The step classes that the plugins of the project provide. */
function useStepClasses() {
  const { data } = useQuery({ queryKey: ['class'], queryFn: ({ signal }) => call('GET /class', {}, signal) })
  return data?.steps ?? []
}

interface SkippedProps extends Pick<PartProps, 'edit'> {
  readonly at: string
  readonly inherited: readonly { readonly name: string; readonly owner: string }[]
}

/** Steps of the path or of groups that the method leaves out. */
function Skipped({ edit, at, inherited }: SkippedProps) {
  const value = edit.get(at)
  const names = Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
  const set = (next: readonly string[]) => edit.set(at, next.length === 0 ? undefined : next)
  return inherited.map(({ name, owner }) => (
    <Checkbox
      key={`${owner} ${name}`}
      label={texts.skip(name, owner)}
      checked={names.includes(name)}
      onChange={({ currentTarget: { checked } }) =>
        set(checked ? [...names, name] : names.filter((one) => one !== name))
      }
    />
  ))
}
