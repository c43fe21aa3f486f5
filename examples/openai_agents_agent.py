"""An agent of the OpenAI Agents SDK that searches and reads (needs ``pip install suyuan openai-agents``)."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from suyuan.integrations.functions import web_functions


class Echo(Model):
    """A stand-in for your model, so that the example runs without a key: searches, and repeats the first source."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        """Call the tool, or answer from what it returned."""
        last = input[-1] if isinstance(input, list) else {"content": input}
        if last.get("type") == "function_call_output":
            first = next(line for line in str(last["output"]).splitlines() if line.startswith("[1]"))
            text = ResponseOutputText(text=f"The best source is {first[4:]} [1].", type="output_text", annotations=[])
            said = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)
        arguments = json.dumps({"query": last["content"], "count": 3})
        call = ResponseFunctionToolCall(arguments=arguments, call_id="1", name="web_search", type="function_call")
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Nothing here is streamed."""
        raise NotImplementedError


async def main(question: str, engines: str) -> None:
    """Let the agent answer ``question`` and print its answer."""
    set_tracing_disabled(True)  # else the SDK sends what the agent does to OpenAI
    tools = [function_tool(one, strict_mode=False) for one in web_functions(engines=engines, lang="en")]
    agent = Agent("Searcher", instructions="Answer with sources.", model=Echo(), tools=list(tools))
    print((await Runner.run(agent, question)).final_output)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
