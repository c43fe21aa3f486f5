"""Words by which a sentence shows that it tells what a question asks for: "died of" for a cause of death."""

from __future__ import annotations

import re
from functools import lru_cache

# What is asked, and how a sentence that tells it is worded.
_CUES = {
    r"职[务业位称]|身份|官职|做什么的|\b(?:job|occupation|profession)\b":
        r"任|从事|[家员师长手者官](?:$|[，、。])|教授|work",
    r"内容|讲述|讲了|情节|剧情|关于什么|\b(?:about|plot|story)\b":
        r"讲述|描述|叙述|故事|描写|介绍|记述|内容|\b(?:about|tell|story|follow)",
    r"成分|组成|构成|包[括含]|分[为成]|哪几?[些部个]|含有|\b(?:made of|consists?|parts|contain\w*)\b":
        r"含|包括|组成|构成|分[为成]|[有为]：|、.{1,80}[、和及]|\b(?:consist|made|compos|compris|includ|contain)",
    r"特[点征色性]|优[点势]|什么样|\bfeatures?\b":
        r"特[点征色性]|独特|具有?|呈|优[点势]|以.{1,80}[著闻]|\b(?:feature|characteri)",
    r"区别|不同|差[异别]|\bdifferen": r"不同|区别|而|则|相比|\b(?:while|whereas|unlike|differ|than)\b",
    r"死因|怎[么样]死|何死|去世|逝世|死[于亡]|\b(?:die|died|death)\b":
        r"死|亡|杀|逝|卒|遇害|病故|病逝|\b(?:die|death|kill|murder)",
    r"作者|谁写|所[写著作]|撰|\b(?:wrote|written|author)\b": r"著|写|作者|撰|编|创作|\b(?:wr[io]t|author|by\b|compos)",
    r"作用|用途|功能|用来|用处|目的|做什么用|\b(?:purpose|used for|function)\b":
        r"用[于来作以]|作用|可[以用]|功能|为了|以便|目的|\b(?:used|purpose|function|serve|allow)",
    r"影响|后果|结果|导致|造成|\b(?:effects?|result|cause[sd]?)\b":
        r"影响|导致|造成|使|令|引[起发]|因|\b(?:cause|effect|result|led|due)",
    r"名[字称]|叫[什做]|别[称名]|又称|得名|由来|命名|\b(?:name[ds]?|called|nickname)\b":
        r"称|名|叫|作「|\b(?:name|called|known|nickname|derive)",
    r"美誉|称号|誉为|[外绰]号|昵称|封号|谥号": r"誉|称|号",
    r"获[得奖]|奖项|荣誉|\b(?:awards?|won|wins?)\b":
        r"获|奖|荣|冠军|\b(?:won|award|receiv|winner|champion|defeat|beat)",
    r"毕业|就读|哪所|学历|\b(?:graduat\w*|stud(?:y|ied)|college)\b":
        r"毕业|就读|大学|学院|学校|入学|考入|\b(?:graduat|stud|universit|college)",
    r"出生|哪里人|籍贯|\bborn\b": r"出生|生于|籍贯|祖籍|人[，。]|\bborn\b",
    r"分布|生长|栖息|产[地于]|原产|\b(?:habitat|native)\b":
        r"分布|生长|栖息|产于|原产|见于|生于|\b(?:found|native|habitat|live|grow)",
    r"朝代|时期|年代|哪一?朝": r"朝|代|时期|世纪|[汉唐宋元明清]",
    r"怎[么样]|如何|方[法式]|步骤|\bhow (?:do|does|did|to|can|is|are|was)\b":
        r"通过|[使利采]用|以|方[法式]|由|先|然后|\b(?:by|using|through|use[ds]?|with|method|process)\b",
    r"形状|颜色|样子|外[形观]|\bcolou?rs?\b": r"状|形|色|呈",
    r"\b(?:mean|means|meaning|stands? for|definition)\b|含义|意思|指什么":
        r"指|意[为思味]|即|\b(?:mean|stand|refer|acronym|abbreviat|term)",
    r"\b(?:come|comes|came) from\b|\borigin|起源|来源|源于": r"源|来自|始于|\b(?:origin|deriv|from|first|root)",
    r"\b(?:plays?|played|stars?|cast)\b|饰演|主演|扮演": r"演|饰|\b(?:play|star|portray|cast|voic)|\bas\b",
    r"\b(?:sings?|sang|sung|song)\b|演唱|唱": r"唱|\b(?:s[iau]ng|record|perform|song|vocal)|\bby\b",
    r"\b(?:start|starts|started|begin|begins|began|founded|established|created)\b|成立|创[立办建]|建[立成]|开始":
        r"成立|创|建|设立|始|启|\b(?:start|beg[iau]n|first|found|establish|creat|launch|introduc)",
    r"\b(?:where (?:is|are|was|were)|located|location)\b|位于|坐落|在哪|哪里|何处":
        r"位于|坐落|地处|在|产自|来自|\b(?:locat|situat|stands?\b|in\b|at the|lies?\b|near|between|from)",
    r"多重|重量|\bhow heavy\b|\bweighs?\b": r"重|\bweigh",
    r"多高|高度|\bhow (?:tall|high)\b": r"高|\b(?:tall|high|height|elevation)",
    r"多长|长度|[全总]长|\bhow long (?:is|are|was)\b": r"长|\b(?:long|length)",
    r"多久|多长时间|\bhow long (?:do|does|did|will)\b":
        r"时|分钟|天|年|月|\b(?:tak|last|minutes|hours|days|weeks|years)",
    r"多少钱|价格|票价|多贵|\bhow much (?:is|are|does|do|did)\b|\bcosts?\b|\bprice\b":
        r"价|元|费|\b(?:cost|price|pay|paid|sold|fare)",
    r"多远|距离|\bhow far\b": r"距|远|\b(?:distance|away|far)",
    r"多大|面积|\bhow (?:big|large)\b|\barea\b": r"面积|平方|公顷|大|\b(?:area|square|acre|hectare|larg|size)",
    r"几岁|年龄|\bhow old\b": r"岁|年|\b(?:old|age|born|built)",
    r"人口|\bpopulation\b|\bhow many people live\b": r"人口|居民|住|\b(?:live|inhabit|resident|population|home to)",
    r"\bhappen|\btake place|发生": r"发生|举行|\b(?:happen|occur|took place|held|resul)",
}  # fmt: skip
_COMPILED = [(re.compile(asked, re.I), re.compile(cue, re.I)) for asked, cue in _CUES.items()]


@lru_cache(maxsize=256)
def cues_for(question: str) -> tuple[re.Pattern[str], ...]:
    """Return how a sentence that answers ``question`` may be worded, for each thing that it asks."""
    return tuple(cue for asked, cue in _COMPILED if asked.search(question))
