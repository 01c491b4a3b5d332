/** A Dockerfile as its stages and their instructions. */
import { type Copy, DockerfileParser, type From, type Instruction } from 'dockerfile-ast';

export type Step = {
  readonly keyword: string;
  /** The arguments without flags. For the JSON form, its strings. */
  readonly words: readonly string[];
  readonly text: string;
  readonly isJson: boolean;
  /** In the form `--timeout=3s`. */
  readonly flags: readonly string[];
  /** `--from` of a COPY. */
  readonly from: string | undefined;
};

export type Stage = {
  readonly name: string | undefined;
  readonly image: string;
  readonly steps: readonly Step[];
};

export function stagesOf(text: string): readonly Stage[] {
  const stages: { name: string | undefined; image: string; steps: Step[] }[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const from = instruction as From;
      stages.push({
        name: from.getBuildStage() ?? undefined,
        image: from.getImage() ?? '',
        steps: [],
      });
    } else stages.at(-1)?.steps.push(stepOf(instruction));
  }
  return stages;
}

function stepOf(instruction: Instruction): Step {
  const keyword = instruction.getKeyword();
  const text = instruction.getArgumentsContent() ?? '';
  const flags = 'getFlags' in instruction ? (instruction as Copy).getFlags() : [];
  const body = keyword === 'HEALTHCHECK' ? text.replace(/^.*?\bCMD\s+/s, '') : text;
  const strings = jsonStrings(body);
  return {
    keyword,
    text,
    words:
      strings ??
      instruction
        .getArguments()
        .map((argument) => argument.getValue())
        .filter((word) => !word.startsWith('--')),
    isJson: strings !== undefined,
    flags: flags.map((flag) => `--${flag.getName()}=${flag.getValue()}`),
    from: flags.find((flag) => flag.getName() === 'from')?.getValue() ?? undefined,
  };
}

function jsonStrings(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text.replaceAll(/\\\r?\n/g, ''));
    return Array.isArray(value) ? value.map(String) : undefined;
  } catch {
    return undefined;
  }
}
