/**
 * The one style of all pages. No colour tells anything alone; each text has a contrast of 4.5 to 1 at least and each
 * field's border one of 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11). Sizes follow the reader's font size.
 */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --card: #fff; --quiet: #f6f7f9; --line: #e1e4e8; --edge: #7d8590;
  --text: #1c2128; --soft: #57606a; --strong: #1c2128; --on-strong: #fff; --strong-over: #343b44;
  --ring: #0a62d6; --bad: #a40e26; --bad-back: #fff1f2; --bad-line: #f3c2c8;
  --note-back: #f2f6fd; --note-line: #c9daf4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1116; --card: #171b21; --quiet: #1e232b; --line: #2d333d; --edge: #7d8794;
    --text: #e8ebf0; --soft: #a3adb9; --strong: #eceff3; --on-strong: #14181e; --strong-over: #cfd5dd;
    --ring: #6aa9ff; --bad: #ffb3ba; --bad-back: #331a1f; --bad-line: #6d2d37;
    --note-back: #182334; --note-line: #2e4566;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  display: flex; min-height: 100vh; min-height: 100dvh; margin: 0; padding: 2rem 1rem;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  color: var(--text); background: var(--page); overflow-wrap: anywhere;
}
main {
  width: 100%; max-width: 27rem; margin: auto; padding: 2.5rem;
  background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
  box-shadow: 0 1px 2px rgb(0 0 0 / .04), 0 12px 32px rgb(0 0 0 / .06);
}
.mark {
  display: grid; place-items: center; width: 3rem; height: 3rem; margin-bottom: 1.25rem;
  font-size: 1.25rem; font-weight: 600; line-height: 1; overflow: hidden;
  color: var(--text); background: var(--quiet); border: 1px solid var(--line); border-radius: .85rem;
}
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; text-wrap: balance; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1rem; font-weight: 600; }
p { margin: .5rem 0 0; text-wrap: pretty; }
strong { font-weight: 600; color: var(--text); }
.soft { color: var(--soft); }
.small { font-size: .875rem; }
.box { margin-top: 1.25rem; padding: .75rem .9rem; font-size: .9375rem; border: 1px solid; border-radius: .6rem; }
.note { background: var(--note-back); border-color: var(--note-line); }
.bad { color: var(--bad); background: var(--bad-back); border-color: var(--bad-line); }
label { display: block; margin-top: 1.25rem; font-size: .9375rem; font-weight: 600; }
input, button { width: 100%; min-height: 2.75rem; font: inherit; border-radius: .6rem; }
input {
  display: block; margin-top: .375rem; padding: .55rem .8rem;
  color: inherit; background: var(--card); border: 1px solid var(--edge);
}
button { padding: .55rem 1rem; font-weight: 600; cursor: pointer; border: 1px solid transparent; }
.strong { color: var(--on-strong); background: var(--strong); }
.strong:hover { background: var(--strong-over); }
.plain { color: var(--text); background: var(--card); border-color: var(--edge); }
.plain:hover { background: var(--quiet); }
.link {
  width: auto; margin: 0 -.5rem; padding: .25rem .5rem; font-weight: 400;
  color: var(--soft); background: none; text-decoration: underline; text-underline-offset: .2em;
}
.link:hover { color: var(--text); }
:focus-visible { outline: 3px solid var(--ring); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
.actions button { flex: 1 1 8rem; }
.other { margin-top: 1rem; text-align: center; font-size: .9375rem; color: var(--soft); }
.other .link { display: inline-block; margin: 0; padding: .625rem 0; color: var(--text); }
.who {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; column-gap: 1rem;
  margin-top: 1.25rem; padding: .35rem .9rem; border: 1px solid var(--line); border-radius: .6rem;
}
.who p { margin: .35rem 0; }
ul { margin: 0; padding: 0; list-style: none; border-block: 1px solid var(--line); }
li { padding: .65rem 0; }
li + li { border-top: 1px solid var(--line); }
code { display: block; font: .9375rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.described code { font-size: .8125rem; color: var(--soft); }
.next { margin-top: 1.25rem; }
@media (min-height: 24rem) {
  .kept {
    position: sticky; bottom: 0; padding-block: .75rem;
    background: var(--card); box-shadow: 0 -.75rem .75rem -.25rem var(--card);
  }
  .actions.kept { margin-top: 1rem; margin-bottom: -.75rem; }
}
@media (max-width: 30rem) {
  body { padding: 0; background: var(--card); }
  main { margin: 0 auto; padding: 2rem 1.25rem; border: 0; border-radius: 0; box-shadow: none; }
}
@media (max-width: 30rem) and (max-height: 45rem) {
  main { padding-top: 1.5rem; }
  .mark { display: none; }
}
@media (min-width: 30.01rem) and (max-height: 45rem) {
  body { padding: .75rem 1rem; }
  main { padding: 1.25rem 2rem; }
  .mark { display: none; }
  .box, .who, .next { margin-top: .75rem; }
  h2, .actions { margin-top: 1rem; }
  li { padding: .4rem 0; }
}
`
